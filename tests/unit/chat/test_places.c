/* Places and session keys, against what Hermes' own code made of the same sources. */
#include "unit.h"

#include <ftw.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "chat/address.h"

static Str fixture(Arena *a, const char *name)
{
    const char *folder = getenv("TALARIA_FIXTURES");
    Str path = str_printf(a, "%s/handoff/%s", folder ? folder : "tests/fixtures", name), text;
    Err err;

    if (!file_read(a, str_z(a, path), MIB(4), &text, &err))
        fail_msg("%s", err.text);
    return text;
}

static void keys_are_those_of_the_reference(void **state)
{
    AUTO(Arena) *a = arena_new();
    const PyValue *cases;
    PyValue root;

    (void)state;
    assert_true(pyjson_read(a, fixture(a, "session_keys.json"), &root));
    cases = pyjson_get(&root, STR("cases"));
    assert_true(cases && cases->n >= 390);
    for (uint32_t i = 0; i < cases->n; i++) {
        const PyValue *c = &cases->items[i];
        KeyFlags flags;
        ChatAddress place;
        Err err;

        assert_true(address_read(pyjson_get(c, STR("source")), &place, &err));
        assert_true(key_flags_read(pyjson_get(c, STR("flags")), &flags, &err));
        assert_str(address_key(a, &place, &flags), pyjson_get(c, STR("key"))->text);
    }
}

static void origins_are_written_as_the_reference_writes_them(void **state)
{
    AUTO(Arena) *a = arena_new();
    const PyValue *cases;
    PyValue root;

    (void)state;
    assert_true(pyjson_read(a, fixture(a, "routing.json"), &root));
    cases = pyjson_get(&root, STR("cases"));
    for (uint32_t i = 0; i < cases->n; i++) {
        const PyValue *row = &pyjson_get(&cases->items[i], STR("sessions"))->items[0];
        Str origin = pyjson_get(row, STR("origin_json"))->text;
        KeyFlags flags = KEY_FLAGS;
        ChatAddress place;
        Err err;

        assert_true(address_parse(a, origin, &place, &err));
        assert_str(address_json(a, &place), origin);
        assert_str(address_key(a, &place, &flags), pyjson_get(row, STR("session_key"))->text);
    }
}

/* Rows beyond the golden file: members of all kinds, numbers as ids, letters beyond ASCII. */
static void places_read_and_written(void **state)
{
    static const struct {
        const char *in, *out, *key;
    } rows[] = {
        { "{\"platform\":\"telegram\",\"chat_id\":55,\"thread_id\":9,\"chat_name\":"
          "\"Caf\xc3\xa9\"}",
          "{\"platform\": \"telegram\", \"chat_id\": \"55\", \"chat_name\": \"Caf\\u00e9\", "
          "\"chat_type\": \"dm\", \"user_id\": null, \"user_name\": null, \"thread_id\": \"9\", "
          "\"chat_topic\": null}",
          "agent:main:telegram:dm:55:9" },
        { "{\"platform\":\"discord\",\"chat_id\":\"\",\"chat_type\":\"group\",\"guild_id\":\"g\","
          "\"auto_thread_created\":true,\"prospective_thread_id\":\"7\",\"user_id\":\"u\"}",
          "{\"platform\": \"discord\", \"chat_id\": \"\", \"chat_name\": null, \"chat_type\": "
          "\"group\", \"user_id\": \"u\", \"user_name\": null, \"thread_id\": null, "
          "\"chat_topic\": null, \"scope_id\": \"g\", \"guild_id\": \"g\", "
          "\"auto_thread_created\": true, \"prospective_thread_id\": \"7\"}",
          "agent:main:discord:thread:7" },
    };
    AUTO(Arena) *a = arena_new();
    KeyFlags flags = KEY_FLAGS;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        ChatAddress place;
        Err err;

        assert_true(address_parse(a, str_of(rows[i].in), &place, &err));
        assert_str(address_json(a, &place), str_of(rows[i].out));
        assert_str(address_key(a, &place, &flags), str_of(rows[i].key));
    }
}

static void refused(void **state)
{
    static const struct {
        const char *in, *why;
    } rows[] = { { "[]", "object" }, { "{}", "platform" }, { "{\"platform\":", "not JSON" } };
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        ChatAddress place = { .platform = STR("untouched") };
        Err err;

        assert_false(address_parse(a, str_of(rows[i].in), &place, &err));
        assert_non_null(strstr(err.text, rows[i].why));
        assert_str(place.platform, STR("untouched"));
    }
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static void put(Arena *a, Str folder, const char *name, const char *text)
{
    Err err;

    assert_true(
        file_write_atomic(str_z(a, str_join_path(a, folder, str_of(name))), str_of(text), &err));
}

static void whatsapp_names_one_person_once(void **state)
{
    char folder[] = "/tmp/talaria-places-XXXXXX";
    AUTO(Arena) *a = arena_new();
    KeyFlags flags = KEY_FLAGS;
    ChatAddress dm = { .platform = STR("whatsapp"), .chat_type = STR("dm") }, group;

    (void)state;
    assert_non_null(mkdtemp(folder));
    flags.aliases = str_of(folder);
    put(a, flags.aliases, "lid-mapping-60123456789.json", "\"999911112222333:7@lid\"");
    put(a, flags.aliases, "lid-mapping-999911112222333_reverse.json", "\"60123456789\"");
    dm.chat_id = STR("999911112222333@lid");
    assert_str(address_key(a, &dm, &flags), STR("agent:main:whatsapp:dm:60123456789"));
    dm.chat_id = STR("+60123456789:3@s.whatsapp.net");
    assert_str(address_key(a, &dm, &flags), STR("agent:main:whatsapp:dm:60123456789"));
    /* In a group the person is named once, the group stays as it is. */
    group = (ChatAddress){ .platform = STR("whatsapp"),
                           .chat_type = STR("group"),
                           .chat_id = STR("1203@g.us"),
                           .user_id = STR("999911112222333@lid") };
    assert_str(address_key(a, &group, &flags),
               STR("agent:main:whatsapp:group:1203@g.us:60123456789"));
    /* A name that would lead elsewhere is not looked up. */
    assert_str(whatsapp_canonical(a, STR("../60123456789"), flags.aliases), STR("../60123456789"));
    assert_int_equal(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_those_of_the_reference),
        cmocka_unit_test(origins_are_written_as_the_reference_writes_them),
        cmocka_unit_test(places_read_and_written),
        cmocka_unit_test(refused),
        cmocka_unit_test(whatsapp_names_one_person_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
