/* Files in updates of every platform, as recorded; which addresses are called; albums. */
#include "unit.h"

#include "base/limits.h"
#include "platforms/attached.h"
#include "platforms/download.h"
#include "platforms/telegram/inside.h"

#define FROM  "\"message_id\":7,\"chat\":{\"id\":55,\"type\":\"private\"},\"from\":{\"id\":55}"
#define GROUP "\"message_id\":7,\"chat\":{\"id\":-42,\"type\":\"supergroup\"},\"from\":{\"id\":55}"
#define DOC                                                                                        \
    "\"document\":{\"file_name\":\"a.pdf\",\"mime_type\":\"application/pdf\",\"file_id\":\"F1\","
#define SAID                                                                                       \
    "\"team_id\":\"T1\",\"event\":{\"type\":\"message\",\"channel\":\"D1\",\"channel_type\":"      \
    "\"im\","                                                                                      \
    "\"user\":\"U1\",\"ts\":\"1.2\""

/* files: "name|mime|size|ref" a line; NULL: no message. */
static const struct {
    const char *what, *platform, *update, *text, *files;
    bool addressed;
} rows[] = {
    { "a document with a caption", "telegram",
      "{\"message\":{" FROM ",\"caption\":\"look\"," DOC "\"file_size\":1200}}}", "look",
      "a.pdf|application/pdf|1200|F1\n", true },
    { "a document alone, of unknown size", "telegram", "{\"message\":{" FROM "," DOC "\"x\":1}}}",
      "", "a.pdf|application/pdf|-1|F1\n", true },
    { "a photo in several sizes", "telegram",
      "{\"message\":{" FROM ",\"photo\":[{\"file_id\":\"S\",\"file_size\":900},{\"file_id\":\"L\","
      "\"file_size\":90000},{\"file_id\":\"XL\",\"file_size\":90000000}]}}",
      "", "photo_7.jpg|image/jpeg|90000|L\n", true },
    { "a photo of which only the small size fits, the large one first", "telegram",
      "{\"message\":{" FROM ",\"photo\":[{\"file_id\":\"XL\",\"file_size\":90000000},{\"file_id\":"
      "\"S\",\"file_size\":900}]}}",
      "", "photo_7.jpg|image/jpeg|900|S\n", true },
    { "a voice message", "telegram",
      "{\"message\":{" FROM ",\"voice\":{\"duration\":3,\"mime_type\":\"audio/ogg\",\"file_id\":"
      "\"V\",\"file_size\":4000}}}",
      "", "voice_7.ogg|audio/ogg|4000|V\n", true },
    { "music", "telegram",
      "{\"message\":{" FROM ",\"audio\":{\"file_id\":\"A\",\"title\":\"Song\"}}}", "",
      "audio_7.mp3||-1|A\n", true },
    { "a film and a round film", "telegram",
      "{\"message\":{" FROM
      ",\"video\":{\"file_id\":\"M\",\"file_name\":\"m.mov\"},\"video_note\":{"
      "\"file_id\":\"N\"}}}",
      "", "m.mov||-1|M\nvideo_7.mp4||-1|N\n", true },
    { "a caption that names us, in a group", "telegram",
      "{\"message\":{" GROUP ",\"caption\":\"@ourbot look\",\"caption_entities\":[{\"type\":"
      "\"mention\",\"offset\":0,\"length\":7}]," DOC "\"file_size\":1}}}",
      "look", "a.pdf|application/pdf|1|F1\n", true },
    { "a file in a group, for nobody", "telegram", "{\"message\":{" GROUP "," DOC "\"x\":1}}}", "",
      "a.pdf|application/pdf|-1|F1\n", false },
    { "an album, of which the second has the words", "telegram",
      "{\"message\":{" FROM "," DOC "\"x\":1}},\"album\":[{" FROM
      ",\"caption\":\"both\",\"photo\":["
      "{\"file_id\":\"P\",\"file_size\":5}]},7]}",
      "both", "a.pdf|application/pdf|-1|F1\nphoto_7.jpg|image/jpeg|5|P\n", true },
    { "a sticker", "telegram", "{\"message\":{" FROM ",\"sticker\":{\"file_id\":\"Z\"}}}", NULL,
      NULL, false },
    { "files that are none", "telegram",
      "{\"message\":{" FROM ",\"document\":7,\"photo\":[7,{\"file_size\":1}],\"voice\":[]}}", NULL,
      NULL, false },
    { "two files", "discord",
      "{\"d\":{\"id\":\"1\",\"channel_id\":\"700\",\"author\":{\"id\":\"55\"},\"content\":\"\","
      "\"attachments\":[{\"id\":\"2\",\"filename\":\"x.png\",\"content_type\":\"image/png\","
      "\"size\":9,\"url\":\"https://cdn.discordapp.com/attachments/1/2/x.png?ex=1\"},{}]}}",
      "", "x.png|image/png|9|https://cdn.discordapp.com/attachments/1/2/x.png?ex=1\nfile||-1|\n",
      true },
    { "a file, and one that was deleted", "slack",
      "{" SAID ",\"subtype\":\"file_share\",\"text\":\"see\",\"files\":[{\"name\":\"r.csv\","
      "\"mimetype\":\"text/csv\",\"size\":12,\"url_private\":\"https://files.slack.com/files-pri/"
      "T1-F1/r.csv\"},{\"id\":\"F2\",\"mode\":\"tombstone\"}]}}",
      "see", "r.csv|text/csv|12|https://files.slack.com/files-pri/T1-F1/r.csv\nfile||-1|\n", true },
    { "names that are paths, controls, nothing", "slack",
      "{" SAID ",\"text\":\"\",\"files\":[{\"name\":\"../../etc/pass\\u0000wd\\n\"},{\"name\":"
      "\"C:\\\\x\\\\y.txt\"},{\"name\":\" / \"},{\"name\":7,\"mimetype\":\"a/b\\r\\nX: y\"}]}}",
      "", "passwd||-1|\ny.txt||-1|\nfile||-1|\n7|a/bX: y|-1|\n", true },
};

static Str files_of(Arena *a, const Inbound *in)
{
    AUTO_BUF out = BUF(KIB(8));

    for (size_t i = 0; i < in->n_files; i++)
        buf_addf(&out, "%.*s|%.*s|%lld|%.*s\n", STR_FMT(in->files[i].name),
                 STR_FMT(in->files[i].mime), (long long)in->files[i].size,
                 STR_FMT(in->files[i].ref));
    return str_dup(a, buf_str(&out));
}

static void files_are_read(void **state)
{
    Identity me = { .id = STR("99"), .name = STR("ourbot") };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(Arena) *a = arena_new();
        Inbound in = { 0 };
        bool is = false;
        Err err;

        if (!shape_named(str_of(rows[i].platform))
                 ->parse(a, str_of(rows[i].update), &me, &in, &is, &err))
            fail_msg("%s: %s", rows[i].what, err.text);
        if (is != (rows[i].text != NULL))
            fail_msg("%s: %s", rows[i].what, is ? "a message" : "no message");
        if (!is)
            continue;
        if (!str_eqz(files_of(a, &in), rows[i].files))
            fail_msg("%s: %.*s", rows[i].what, STR_FMT(files_of(a, &in)));
        assert_str(in.text, str_of(rows[i].text));
        assert_int_equal(in.addressed, rows[i].addressed);
    }
}

static void there_is_an_end_to_it(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF name = BUF(KIB(2));
    Inbound in = { 0 };

    (void)state;
    buf_pad(&name, 'n', 500);
    buf_addz(&name, ".txt");
    for (int i = 0; i < LIMIT_INBOUND_FILES + 3; i++)
        attached_add(a, &in, (InboundFile){ .name = buf_str(&name) }, STR("file"));
    assert_int_equal(in.n_files, LIMIT_INBOUND_FILES);
    assert_int_equal(in.more_files, 3);
    assert_int_equal(in.files[0].name.n, LIMIT_FILE_NAME);
    assert_true(str_ends(in.files[0].name, STR("nnn.txt")));
}

static void only_the_platform_is_called(void **state)
{
    static const struct {
        const char *url;
        bool may;
    } addresses[] = {
        { "https://files.slack.com/files-pri/T1-F1/x", true },
        { "https://slack.com/x", true },
        { "https://FILES.SLACK.COM/x", true },
        { "https://slack-files.com:443/x", true },
        { "http://127.0.0.1:8080/files-pri/x", true },
        { "http://files.slack.com/x", false },
        { "https://files.slack.com:8443/x", false },
        { "https://files.slack.com.evil.example/x", false },
        { "https://evilslack.com/x", false },
        { "https://slack.com@evil.example/x", false },
        { "https://evil.example/?slack.com", false },
        { "https://evil.example\\@slack.com/x", false },
        { "http://127.0.0.1/x", false },
        { "https://127.0.0.1:8080/x", false },
        { "http://localhost:8080/x", false },
        { "http://[::1]:8080/x", false },
        { "http://169.254.169.254/latest/meta-data", false },
        { "file:///etc/passwd", false },
        { "gopher://slack.com/x", false },
        { "/files-pri/x", false },
        { "", false },
    };
    Download d = { .platform = "slack",
                   .base = "http://127.0.0.1:8080/api/",
                   .hosts = "slack.com|slack-files.com" };
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(addresses); i++) {
        Err err = { 0 };

        if (download_may(a, &d, addresses[i].url, &err) != addresses[i].may)
            fail_msg("%s: %s", addresses[i].url, err.text);
        assert_true(addresses[i].may || err.kind == ERR_REFUSED);
    }
}

/* -- albums -- */

static void what_belongs_together_is_one_update(void **state)
{
    static const char before[] =
        "[{\"update_id\":1,\"message\":{\"n\":\"a\",\"chat\":{\"id\":5},\"media_group_id\":\"g\"}},"
        "{\"update_id\":2,\"message\":{\"n\":\"b\",\"chat\":{\"id\":5}}},"
        "{\"update_id\":3,\"message\":{\"n\":\"c\",\"chat\":{\"id\":5},\"media_group_id\":\"g\"}},"
        "{\"update_id\":4,\"message\":{\"n\":\"d\",\"chat\":{\"id\":6},\"media_group_id\":\"g\"}},"
        "7]";
    static const char after[] =
        "[{\"update_id\": 1, \"message\": {\"n\": \"a\", \"chat\": {\"id\": 5}, "
        "\"media_group_id\": \"g\"}, \"album\": [{\"n\": \"c\", \"chat\": {\"id\": 5}, "
        "\"media_group_id\": \"g\"}]}, "
        "{\"update_id\": 2, \"message\": {\"n\": \"b\", \"chat\": {\"id\": 5}}}, "
        "{\"update_id\": 3, \"album_of\": 1}, "
        "{\"update_id\": 4, \"message\": {\"n\": \"d\", \"chat\": {\"id\": 6}, "
        "\"media_group_id\": \"g\"}}, 7]";
    AUTO(Arena) *a = arena_new();
    AUTO_BUF out = BUF(KIB(4));
    PyValue v, joined;

    (void)state;
    assert_true(pyjson_read(a, str_of(before), &v));
    joined = telegram_albums(a, &v);
    pyjson_write(&out, &joined);
    assert_str(buf_str(&out), str_of(after));
    assert_false(telegram_ends_in_album(&v));
    v.n = 4;
    assert_true(telegram_ends_in_album(&v));
    v.n = 0;
    assert_false(telegram_ends_in_album(&v));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read),
        cmocka_unit_test(there_is_an_end_to_it),
        cmocka_unit_test(only_the_platform_is_called),
        cmocka_unit_test(what_belongs_together_is_one_update),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
