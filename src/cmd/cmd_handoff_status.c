/* talaria handoff status, cancel, back: what is on its way, and the way back. */
#include "base/clock.h"
#include "base/log.h"
#include "cmd/cmd_handoff.h"
#include "cmd/table.h"
#include "handoff/routing.h"
#include "handoff/wait.h"
#include "handoff/wake.h"
#include "text/human.h"

enum { MAX_SHOWN = 50 };

static OwnStore *open_journal(Cli *cli, Err *err)
{
    if (!cli_homes(cli, &(const Homes *){ NULL }, err))
        return NULL;
    return own_store_open(cli->homes.data, err);
}

/* -- status -- */

/* The last state of the way that it reached; a step that failed is the one after that. */
static HandoffState reached(const Handoff *h)
{
    HandoffState s = HANDOFF_QUEUED;

    if (h->state <= HANDOFF_DONE)
        return h->state;
    while (s < HANDOFF_ANNOUNCED && !str_eqz(h->step, handoff_state_step(s)))
        s++;
    return s;
}

static Style style_of(HandoffState s)
{
    return s == HANDOFF_DONE ? STYLE_GREEN : s == HANDOFF_FAILED ? STYLE_RED : STYLE_YELLOW;
}

/* claim > prepare > [bind]: where it is, or where it stopped. */
static void print_way(Cli *cli, const Handoff *h)
{
    HandoffState at = reached(h);

    for (HandoffState s = HANDOFF_QUEUED; s <= at && s < HANDOFF_DONE; s++)
        say(cli, "%s%s%s%s%s%s", s ? " > " : "", s == at ? style(cli, style_of(h->state)) : "",
            s == at ? "[" : "", handoff_state_step(s), s == at ? "]" : "",
            s == at ? style(cli, STYLE_OFF) : "");
}

/* "returned": it was done, and the session has left that platform again. */
static const char *state_word(OwnStore *own, Arena *a, const Handoff *h)
{
    SessionOwner owner;
    Err ignored;

    if (h->state == HANDOFF_DONE && owner_get(own, a, h->home, h->session_id, &owner, &ignored) &&
        owner.surface.n && !str_eq(owner.surface, h->platform))
        return "returned";
    return handoff_state_name(h->state);
}

static void print_one(Cli *cli, OwnStore *own, const Handoff *h, double now)
{
    double began = (double)h->requested_ms / 1000, last = (double)h->updated_ms / 1000;
    bool over = handoff_is_over(h->state);
    double seconds = (over ? last : now) - began; /* below 0: a clock was set back */

    say(cli, "%.*s  %s%-9s%s  %.*s -> %.*s%s%.*s\n", STR_FMT(h->id), style(cli, style_of(h->state)),
        state_word(own, cli->arena, h), style(cli, STYLE_OFF), STR_FMT(h->session_id),
        STR_FMT(h->platform), str_eqz(h->target, "home") ? "" : ":",
        STR_FMT(str_eqz(h->target, "home") ? STR("") : h->target));
    say(cli, "    ");
    print_way(cli, h);
    say(cli, "  requested %.*s, %s %.2f s", STR_FMT(human_ago(cli->arena, began, now)),
        over ? "took" : "in progress for", seconds > 0 ? seconds : 0);
    if (h->attempt > 1)
        say(cli, ", %lld attempts", (long long)h->attempt);
    say(cli, "\n");
    if (h->error_text.n) {
        say(cli, "    ");
        say_text(cli, h->error_text, false);
        say(cli, "\n");
    }
}

static void print_all(Cli *cli, OwnStore *own, const Handoff *all, size_t n)
{
    double now = clock_wall();

    if (n == 0)
        say(cli, "No handoffs yet\n");
    for (size_t i = 0; i < n; i++)
        print_one(cli, own, &all[i], now);
    if (!gateway_is_running(cli->homes.data))
        hint(cli, "no gateway is running; 'talaria up' starts one");
}

/* In a pipe: one handoff a line. */
static void list_all(Cli *cli, const Handoff *all, size_t n)
{
    static const TableColumn columns[] = {
        { .title = "ID" },       { .title = "STATE" },   { .title = "SESSION" },
        { .title = "PLATFORM" }, { .title = "TARGET" },  { .title = "REQUESTED" },
        { .title = "STEP" },     { .title = "PROBLEM" },
    };
    AUTO(Table) *t = table_begin(cli, columns, ARRAY_LEN(columns));

    for (size_t i = 0; i < n; i++) {
        const Handoff *h = &all[i];

        table_cell(t, h->id);
        table_cell(t, str_of(handoff_state_name(h->state)));
        table_cell(t, h->session_id);
        table_cell(t, h->platform);
        table_cell(t, h->target);
        table_cell(t, human_iso(cli->arena, (double)h->requested_ms / 1000));
        table_cell(t, str_of(handoff_state_step(reached(h))));
        table_cell(t, h->error_text);
    }
    table_end(t);
}

static void put_all(Cli *cli, const Handoff *all, size_t n)
{
    JsonWriter w = cli_json_begin(cli);

    json_field_bool(&w, "gateway", gateway_is_running(cli->homes.data));
    json_field_begin(&w, "handoffs", '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(&w, '{');
        handoff_put(&w, &all[i]);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    cli_json_end(cli, &w);
}

/* Hermes' gateway may be processing it: then a row of its database tells the state. If that cannot
 * be read, the journal is what we know. */
static void look_again(Cli *cli, OwnStore *journal, Handoff *all, size_t n)
{
    Err why;

    for (size_t i = 0; i < n; i++)
        if (all[i].mirrored && !handoff_is_over(all[i].state) &&
            !handoff_look(journal, cli->arena, all[i].id, &all[i], &why))
            log_warning("%s", why.text);
}

bool handoff_status(Cli *cli, const Args *args, Err *err)
{
    AUTO(OwnStore) *journal = NULL;
    bool copy = false;
    Handoff *all;
    size_t n;

    (void)args;
    if (!cli_homes(cli, &(const Homes *){ NULL }, err))
        return false;
    journal = own_store_open_to_read(cli->homes.data, &copy, err);
    if (!journal || !handoff_list(journal, cli->arena, STR(""), STR(""), MAX_SHOWN, &all, &n, err))
        return false;
    if (!copy)
        look_again(cli, journal, all, n);
    if (cli->json)
        put_all(cli, all, n);
    else if (cli_on_terminal(cli))
        print_all(cli, journal, all, n);
    else
        list_all(cli, all, n);
    return true;
}

/* -- cancel -- */

/* The one that was named, else the newest that is not over. */
static bool find_handoff(Cli *cli, OwnStore *journal, Str id, Str *ret, Err *err)
{
    Handoff *all;
    size_t n;

    *ret = id;
    if (id.n)
        return true;
    if (!handoff_list(journal, cli->arena, STR(""), STR(""), MAX_SHOWN, &all, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!handoff_is_over(all[i].state)) {
            *ret = all[i].id;
            return true;
        }
    return err_set(err, ERR_NOT_FOUND, "no handoff is in progress");
}

bool handoff_cancel_one(Cli *cli, const Args *args, Err *err)
{
    AUTO(OwnStore) *journal = open_journal(cli, err);
    bool over;
    Handoff h;
    Str id;

    if (!journal || !find_handoff(cli, journal, args_operand(args, 0), &id, err) ||
        !handoff_cancel(journal, id, &over, err) || !handoff_get(journal, cli->arena, id, &h, err))
        return false;
    wake_call(cli->homes.data);
    handoff_show(cli, &h);
    if (!cli->json)
        say(cli, over ? "cancelled\n" : "asked the gateway to cancel\n");
    return true;
}

/* -- back -- */

static bool is_away(const SessionOwner *owner)
{
    return owner->surface.n && !str_eqz(owner->surface, "cli");
}

/* The one that was handed over last and has not come back; empty: none is away. */
static bool last_away(Cli *cli, OwnStore *journal, Str *ret, Err *err)
{
    SessionOwner owner;
    Handoff *all;
    size_t n;

    *ret = STR("");
    if (!handoff_list(journal, cli->arena, STR(""), STR(""), MAX_SHOWN, &all, &n, err))
        return false;
    for (size_t i = 0; i < n && !ret->n; i++) {
        if (!owner_get(journal, cli->arena, all[i].home, all[i].session_id, &owner, err))
            return false;
        if (is_away(&owner))
            *ret = all[i].session_id;
    }
    return true;
}

static void tell_back(Cli *cli, OwnStore *journal, const Lineage *lineage, Str home, Str from)
{
    if (cli->json) {
        JsonWriter w = cli_json_begin(cli);

        json_field_str(&w, "session_id", lineage->tip.id);
        json_field_str(&w, "from", from);
        cli_json_end(cli, &w);
        return;
    }
    say(cli, "'");
    say_text(cli, lineage->title, false);
    say(cli, "' returned from %.*s; to continue: %.*s\n", STR_FMT(from),
        STR_FMT(handoff_resume_hint(cli, journal, home, lineage->tip.id)));
    if (!str_eq(home, cli->homes.data) &&
        handoff_conversation(cli, journal, home, lineage->tip.id).n)
        say(cli, "Messages from the chat are in this Talaria conversation; Hermes does not have "
                 "them\n");
}

bool handoff_back(Cli *cli, const Args *args, Err *err)
{
    AUTO(OwnStore) *journal = open_journal(cli, err);
    Str id = args_text(args, "session");
    SessionOwner owner;
    Picked picked;
    Pick pick;

    if (!journal || (!id.n && !last_away(cli, journal, &id, err)))
        return false;
    if (!id.n)
        return err_set(
            err, ERR_NOT_FOUND,
            "no session is handed over; use --session ID for a session that was started in a chat");
    if (!handoff_find_session(cli, id, true, &pick, &picked, err))
        return false;
    id = picked.session.tip.id;
    if (!owner_get(journal, cli->arena, picked.home, id, &owner, err))
        return false;
    if (!is_away(&owner))
        return err_set(err, ERR_CONFLICT, "session '%.*s' is already here", STR_FMT(id));
    if (!handoff_idle(&cli->homes, picked.home, id, err) ||
        !handoff_bring_back(&cli->homes, journal, picked.home, id, err))
        return false;
    tell_back(cli, journal, &picked.session, picked.home, owner.surface);
    return true;
}
