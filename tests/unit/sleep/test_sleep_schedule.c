/* Schedules: the crontab's block, the units' texts, and which night is due. */
#include "unit.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "sleep/schedule/schedule.h"

static const Str hostile[] = { STR_INIT("--model"), STR_INIT("100% 'my' \"best\" \\ $HOME `x`") };

static ScheduleSpec spec_of(Str project)
{
    return (ScheduleSpec){ .project = project,
                           .hour = 3,
                           .minute = 17,
                           .binary = STR("/opt/my tools/50%/talaria"),
                           .args = { .items = (Str *)hostile, .n = ARRAY_LEN(hostile) } };
}

/* What cron hands to the shell: up to the first "%" that no backslash stands before. */
static Str as_cron_reads(Arena *a, Str line)
{
    AUTO_BUF out = BUF(1 << 16);
    int fields = 0;
    size_t i = 0;

    for (; fields < 5; i++)
        fields += line.p[i] == ' ';
    for (; i < line.n && line.p[i] != '%'; i++) {
        if (line.p[i] == '\\' && i + 1 < line.n && line.p[i + 1] == '%')
            i++;
        buf_addc(&out, line.p[i]);
    }
    return str_dup(a, buf_str(&out));
}

static void the_line_survives_cron(void **state)
{
    AUTO(Arena) *a = arena_new();
    SleepHome home = sleep_home(a, STR("/data 100%"));
    ScheduleSpec spec = spec_of(STR("/p/it's 5% off"));
    Str line, command;
    Err err;

    (void)state;
    assert_true(cron_text(a, &home, &spec, &line, &err));
    assert_true(str_starts(line, STR("17 * * * * ")));
    command = as_cron_reads(a, line);
    assert_true(str_find(command, STR("'/opt/my tools/50%/talaria' sleep run '--model' '100% "
                                      "'\\''my'\\'' \"best\" \\'' $HOME `x`'")) < command.n);
    assert_true(str_find(command, STR("'/p/it'\\''s 5% off'")) < command.n);
    assert_true(str_find(command, STR(">> '/data 100%/sleep/cron.log'")) < command.n);
}

static void the_block_is_ours_and_nothing_else(void **state)
{
    AUTO(Arena) *a = arena_new();
    Str one = schedule_key(a, STR("/one")), two = schedule_key(a, STR("/two"));
    Str l1 = str_printf(a, "1 * * * * x  # project-sha256=%.*s", STR_FMT(one));
    Str l2 = str_printf(a, "2 * * * * y  # project-sha256=%.*s", STR_FMT(two));
    Str l3 = str_printf(a, "3 * * * * z  # project-sha256=%.*s", STR_FMT(one));
    Str own = STR("# mine\n\n5 5 * * * backup 100\\%\n\n"), tab;
    size_t n;

    (void)state;
    tab = cron_merge(a, own, one, l1, &n);
    tab = cron_merge(a, tab, two, l2, &n);
    assert_int_equal(n, 0);
    tab = cron_merge(a, tab, one, l3, &n);
    assert_int_equal(n, 1);
    assert_true(str_find(tab, l1) == tab.n);
    assert_true(str_find(tab, l2) < tab.n && str_find(tab, l3) < tab.n);
    assert_true(str_starts(tab, own));
    tab = cron_merge(a, tab, one, STR(""), &n);
    assert_int_equal(n, 1);
    tab = cron_merge(a, tab, STR(""), STR(""), &n);
    assert_int_equal(n, 1);
    assert_str(tab, own);
    assert_str(cron_merge(a, STR(""), one, STR(""), &n), STR(""));
}

/* A mark may be lost, and people write between the marks: what is not ours stays, whoever is
 * unscheduled. */
static void lines_of_the_user_stay(void **state)
{
    AUTO(Arena) *a = arena_new();
    Str one = schedule_key(a, STR("/one"));
    Str l1 = str_printf(a, "1 * * * * x  # project-sha256=%.*s", STR_FMT(one));
    Str torn = str_printf(a, "MAILTO=me\n# >>> talaria-sleep (managed) >>>\n%.*s\n0 4 * * * mine\n",
                          STR_FMT(l1));
    Str keys[] = { one, STR("") }, tab;
    size_t n;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        assert_str(cron_merge(a, torn, keys[i], STR(""), &n), STR("MAILTO=me\n0 4 * * * mine\n"));
        assert_int_equal(n, 1);
    }
    tab = cron_merge(a, torn, one, l1, &n);
    assert_true(str_starts(tab, STR("MAILTO=me\n0 4 * * * mine\n# >>>")));
    assert_true(str_find(tab, l1) < tab.n);
}

static void units_quote_what_they_must(void **state)
{
    AUTO(Arena) *a = arena_new();
    ScheduleSpec spec = spec_of(STR("/p/5% off"));
    ScheduleFile units[2];
    Err err;

    (void)state;
    assert_true(systemd_units(a, &spec, units, &err));
    assert_true(str_find(units[0].text,
                         STR("ExecStart=\"/opt/my tools/50%%/talaria\" sleep run \"--model\" "
                             "\"100%% 'my' \\\"best\\\" \\\\ $$HOME `x`\"\n")) < units[0].text.n);
    assert_true(str_find(units[1].text, STR("OnCalendar=*-*-* 03:17:00\nPersistent=true\n")) <
                units[1].text.n);
    assert_true(str_ends(units[1].path, STR(".timer")));
}

static void controls_are_refused(void **state)
{
    AUTO(Arena) *a = arena_new();
    SleepHome home = sleep_home(a, STR("/tmp/nowhere"));
    ScheduleSpec spec = spec_of(STR("/p\n* * * * * evil"));
    Scheduled done;
    Err err;

    (void)state;
    assert_false(schedule_set(a, &home, SCHEDULER_CRON, &spec, true, &done, &err));
    assert_int_equal(err.kind, ERR_REFUSED);
    spec = spec_of(STR("/p"));
    spec.hour = 24;
    assert_false(schedule_set(a, &home, SCHEDULER_SYSTEMD, &spec, true, &done, &err));
    assert_int_equal(err.kind, ERR_USAGE);
}

/* 1.8e9 is 2027-01-15 08:00:00 UTC. */
static void a_night_is_due_once(void **state)
{
    enum { HOUR = 3600 };
    AUTO(Arena) *a = arena_new();
    char folder[] = "/tmp/talaria-due-XXXXXX";
    SleepHome home = sleep_home(a, str_of(mkdtemp(folder)));
    static const struct {
        double hours;
        bool due;
    } rows[] = {
        { 0.5, false },                   /* scheduled in the morning: the next one is tomorrow */
        { 12, false },   { 19.0, false }, /* 03:00 */
        { 19.3, true },                   /* 03:18 */
        { 20.3, false }, { 30, false },
        { 60, true }, /* the machine was off at 03:17: caught up */
        { 61, false },
    };
    bool due = false;
    Err err;

    (void)state;
    setenv("TZ", "UTC", 1);
    assert_true(sleep_home_make(&home, &err));
    assert_true(file_write_atomic(
        str_z(a, str_join_path(a, home.folder, STR("schedules.json"))),
        STR("{\"format\": 1, \"schedules\": [{\"project\": \"/p\", \"kind\": \"cron\", \"hour\": "
            "3, \"minute\": 17, \"since\": 1800000000}]}"),
        &err));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_true(schedule_due(a, &home, STR("/p"), 1.8e9 + rows[i].hours * HOUR, &due, &err));
        assert_int_equal(due, rows[i].due);
    }
    assert_false(schedule_due(a, &home, STR("/q"), 1.8e9, &due, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_survives_cron),
        cmocka_unit_test(the_block_is_ours_and_nothing_else),
        cmocka_unit_test(lines_of_the_user_stay),
        cmocka_unit_test(units_quote_what_they_must),
        cmocka_unit_test(controls_are_refused),
        cmocka_unit_test(a_night_is_due_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
