/* What a night leaves: its proposals and reports in the staging folder, and the memory of it. */
#include "base/limits.h"
#include "sleep/adoption/adopt.h"
#include "sleep/adoption/stage.h"
#include "sleep/night/night_inside.h"

static size_t proposals_of(const Night *w, StageProposal *ret)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n_targets; i++) {
        const Target *t = &w->targets[i];

        if (!t->done.accepted)
            continue;
        if (!str_eq(t->done.docs.skill, t->docs.skill))
            ret[n++] = (StageProposal){ t->kind, t->skill, &t->live, t->done.docs.skill };
        if (t->memory.path.n && !str_eq(t->done.docs.memory, t->docs.memory))
            ret[n++] =
                (StageProposal){ ITEM_MEMORY, STR("CLAUDE.md"), &t->memory, t->done.docs.memory };
    }
    return n;
}

static bool proposes_managed(const StageProposal *proposals, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (proposals[i].kind != ITEM_SKILL)
            return true;
    return false;
}

bool night_publish(Night *w, NightDone *ret, Err *err)
{
    StageProposal *proposals = ARENA_ARRAY(w->arena, StageProposal, 2 * w->n_targets + 1);
    AUTO_BUF json = BUF(LIMIT_SLEEP_FILE);
    AUTO_BUF md = BUF(LIMIT_SLEEP_FILE);
    AUTO_BUF diagnostics = BUF(LIMIT_SLEEP_FILE);
    StageRequest request = { .night = w->tonight.night,
                             .accepted = w->recorder.report.report.accepted,
                             .live_skill_path = w->managed_path,
                             .live_memory_path = STR(""),
                             .proposals = proposals,
                             .skill_roots = w->roots };
    StageFile files[4];
    Manifest manifest;

    request.n_proposals = proposals_of(w, proposals);
    report_json(&json, &w->recorder.report);
    report_md(&md, &w->recorder.report);
    report_diagnostics(&diagnostics, &w->recorder.report);
    if (buf_full(&json) || buf_full(&md) || buf_full(&diagnostics))
        return err_set(err, ERR_TOO_LARGE, "the report of the night is too large");
    files[0] = (StageFile){ STR("report.json"), buf_str(&json) };
    files[1] = (StageFile){ STR("report.md"), buf_str(&md) };
    files[2] = (StageFile){ STR("diagnostics.json"), buf_str(&diagnostics) };
    request.files = files;
    request.n_files = 3;
    if (w->options->auto_adopt && proposes_managed(proposals, request.n_proposals))
        files[request.n_files++] = (StageFile){ STR(ADOPT_REQUEST), STR("") };
    if (!stage_publish(w->arena, &w->home, &request, &manifest, err))
        return false;
    ret->staging = w->tonight.night;
    ret->folder = night_folder(w->arena, &w->home, w->tonight.night);
    for (size_t i = 0; i < manifest.n; i++) {
        LIST_PUSH(w->arena, &ret->staged_skills, manifest.items[i].name);
        ret->has_managed |= manifest.items[i].kind != ITEM_SKILL;
    }
    evidence_begin(w->recorder.evidence, "stage", "staged");
    evidence_str(w->recorder.evidence, "night", w->tonight.night);
    evidence_int(w->recorder.evidence, "proposals", (int64_t)manifest.n);
    evidence_end(w->recorder.evidence);
    return true;
}

Str night_model_key(const Night *w)
{
    return str_printf(w->arena, "%s:%.*s", w->backend->name, STR_FMT(w->backend->model));
}

bool night_remember(Night *w, Err *err)
{
    const SleepReport *s = &w->recorder.report.report;
    HistoryRow row = { .night = w->tonight.number,
                       .project = w->tonight.project,
                       .accepted = s->accepted,
                       .baseline = s->baseline_score,
                       .candidate = s->candidate_score,
                       .n_tasks = s->n_tasks,
                       .staging = w->tonight.night };

    w->state.night++;
    w->past->night = w->tonight.number;
    if (!w->options->tasks_file)
        w->past->last_harvest = w->tonight.started_at;
    w->past->pending = known_book_text(w->arena, &w->known);
    state_archive(w->arena, w->past, &w->tonight.tasks);
    w->state.last_model_key = night_model_key(w);
    state_add_history(w->arena, &w->state, row);
    return state_save(w->home.state, &w->state, err) &&
           tonight_forget(w->arena, &w->home, false, err);
}
