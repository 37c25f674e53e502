/* What is said at the place that a session left for the terminal, and at the one to which it came
 * because its thread is gone. It lies in the outbox in the transaction in which the session moves,
 * so it is said exactly where that happened; a gateway that comes much later keeps silent, for by
 * then nobody there is waiting. */
#include "base/clock.h"
#include "base/limits.h"
#include "chat/address.h"
#include "chat/outbox.h"
#include "handoff/routing.h"
#include "handoff/routing_inside.h"
#include "text/redact.h"
#include "text/utf8.h"

enum { TITLE_COLUMNS = 60 };

/* The title, or the first line that was said. Content that is no plain text (a list of parts) names
 * nothing. */
static Str name_of(Arena *a, Str text)
{
    Str rest = str_trim(utf8_repair(a, text)), line = rest;

    if (!rest.n || (unsigned char)rest.p[0] < ' ')
        return STR("");
    (void)str_split(&rest, '\n', &line);
    return utf8_fit(a, redact_text(a, str_trim(line)), TITLE_COLUMNS);
}

/* *ret_place: as its row has it; empty: it does not say. */
static bool where_it_was(SessionDb *s, Arena *a, Str session_id, Str *ret_title, Str *ret_place,
                         Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row = false;

    if (s->has_origin_json) {
        if (!db_query(s->db, &rows, err,
                      "SELECT coalesce(nullif(title, ''), (SELECT substr(content, 1, 400) FROM "
                      "messages WHERE session_id = sessions.id AND role = 'user' ORDER BY id "
                      "LIMIT 1)), origin_json FROM sessions WHERE id = ?",
                      TEXT(session_id)) ||
            !db_row(rows, &row, err))
            return false;
    }
    *ret_title = row ? name_of(a, str_dup(a, row_text(rows, 0))) : STR("");
    *ret_place = row ? str_dup(a, row_text(rows, 1)) : STR("");
    return true;
}

/* A gateway of ours was there at some time; one of others says what it likes. */
static bool is_ours(OwnStore *own, Str platform, bool *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;

    return db_query(own_store_db(own), &rows, err,
                    "SELECT 1 FROM platform_state WHERE platform = ?", TEXT(platform)) &&
           db_row(rows, ret, err);
}

static Str words(Arena *a, Str title, const ChatAddress *at)
{
    return str_printf(a,
                      "%s%.*s%s continues in the terminal. Write here to start a new session; "
                      "%cresume continues an earlier one from this chat.",
                      title.n ? "'" : "", STR_FMT(title.n ? title : STR("The session")),
                      title.n ? "'" : "", str_eqz(at->platform, "slack") ? '!' : '/');
}

bool routing_note(OwnStore *own, Arena *a, SessionDb *s, Str session_id, const SessionOwner *owner,
                  bool *noted, Err *err)
{
    int64_t now = clock_wall_ms();
    char id[ULID_CHARS];
    Str title, json;
    Outgoing row, o;
    bool ours;
    ChatAddress at;
    Err ignored;

    if (*noted || !owner->surface.n || str_eqz(owner->surface, "cli"))
        return true;
    if (!is_ours(own, owner->surface, &ours, err) ||
        !where_it_was(s, a, session_id, &title, &json, err))
        return false;
    if (!ours || !address_parse(a, json, &at, &ignored) || !str_eq(at.platform, owner->surface))
        return true;
    ulid_make(0, id);
    o = (Outgoing){ .id = str_printf(a, "left:%s", id),
                    .platform = at.platform,
                    .address_json = json,
                    .text = words(a, title, &at),
                    .created_ms = now,
                    .expires_ms = now + LIMIT_LEFT_NOTE_MS };
    *noted = true;
    return outbox_put(own, a, &o, &row, err);
}

bool routing_note_gone(OwnStore *own, Arena *a, SessionDb *s, const Handoff *h,
                       const ChatAddress *from, Err *err)
{
    Str title, json;
    Outgoing row, o;

    if (!where_it_was(s, a, h->session_id, &title, &json, err))
        return false;
    o = (Outgoing){ .id = str_printf(a, "gone:%.*s:%.*s:%.*s", STR_FMT(from->platform),
                                     STR_FMT(from->chat_id), STR_FMT(from->thread_id)),
                    .platform = from->platform,
                    .address_json = h->dest_source_json,
                    .text = str_printf(
                        a, "%s%.*s%s continues here: its topic was deleted.%s", title.n ? "'" : "",
                        STR_FMT(title.n ? title : STR("The session")), title.n ? "'" : "",
                        h->prev_session_id.n ? " /resume continues the earlier one." : ""),
                    .expires_ms = clock_wall_ms() + LIMIT_LEFT_NOTE_MS };
    return outbox_put(own, a, &o, &row, err);
}
