/* "What did I work on last week?": the sessions of a period by project, the busiest first. */
#include <stdlib.h>

#include "agent/answer_inside.h"

enum { MAX_PROJECTS = 12, MAX_TITLES = 6 };

typedef struct Project {
    Str folder;
    size_t *talks; /* of the answer, newest first */
    size_t n, cap;
    int64_t messages;
    double newest;
} Project;

typedef struct Projects {
    Project *all;
    size_t n, cap;
} Projects;

static Project *project_of(Answering *w, Projects *p, Str folder)
{
    for (size_t i = 0; i < p->n; i++)
        if (str_eq(p->all[i].folder, folder))
            return &p->all[i];
    ARENA_PUSH(w->arena, p->all, p->n, p->cap, ((Project){ .folder = folder }));
    return &p->all[p->n - 1];
}

static int busiest_first(const void *left, const void *right)
{
    const Project *x = left, *y = right;

    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    return x->newest < y->newest ? 1 : x->newest > y->newest ? -1 : str_cmp(x->folder, y->folder);
}

static Str folder_name(Str path)
{
    while (path.n > 1 && path.p[path.n - 1] == '/')
        path.n--;
    for (size_t i = path.n; i > 0; i--)
        if (path.p[i - 1] == '/' && i < path.n)
            return str_skip(path, i);
    return path;
}

/* Sessions with one title are one line. Marks those that were listed with an earlier one. */
static size_t same_title(const Answering *w, const Project *p, size_t from, bool *listed)
{
    Str title = w->talks[p->talks[from]].entry.title;
    size_t n = 1;

    for (size_t i = from + 1; i < p->n; i++)
        if (!listed[i] && str_eq(w->talks[p->talks[i]].entry.title, title)) {
            listed[i] = true;
            n++;
        }
    return n;
}

static void put_talk(Answering *w, const Talk *t, size_t same)
{
    buf_addz(w->out, "- ");
    answer_link(w->out, t->entry.title, t->entry.id);
    buf_addz(w->out, ", ");
    answer_date(w->out, t->entry.last_at);
    buf_addz(w->out, ", ");
    answer_plural(w->out, t->messages, "message", "messages");
    if (same > 1)
        buf_addf(w->out, " (and %zu more with this title)", same - 1);
    buf_addc(w->out, '\n');
}

static void put_project(Answering *w, const Project *p)
{
    bool *listed = ARENA_ARRAY(w->arena, bool, p->n);
    size_t shown = 0, left = 0;

    buf_addz(w->out, "\n**");
    answer_text(w->out, p->folder.n ? folder_name(p->folder) : STR("No folder"), 40);
    buf_addz(w->out, "**: ");
    answer_plural(w->out, (int64_t)p->n, "session", "sessions");
    buf_addz(w->out, ", ");
    answer_plural(w->out, p->messages, "message", "messages");
    buf_addz(w->out, "\n\n");
    for (size_t i = 0; i < p->n; i++) {
        size_t same;

        if (listed[i])
            continue;
        same = same_title(w, p, i, listed);
        if (shown++ < MAX_TITLES)
            put_talk(w, &w->talks[p->talks[i]], same);
        else
            left += same;
    }
    if (left)
        buf_addf(w->out, "- and %zu more\n", left);
}

bool answer_worked(Answering *w, Err *err)
{
    Projects p = { 0 };

    if (!answer_sessions(w, w->q->topic, err))
        return false;
    for (size_t i = 0; i < w->n; i++) {
        Project *project = project_of(w, &p, w->talks[i].entry.cwd);

        ARENA_PUSH(w->arena, project->talks, project->n, project->cap, i);
        project->messages += w->talks[i].messages;
        if (w->talks[i].entry.last_at > project->newest)
            project->newest = w->talks[i].entry.last_at;
    }
    if (!w->n) {
        buf_addf(w->out, "No session of yours falls into this period (%.*s).\n",
                 STR_FMT(w->period_name));
        return true;
    }
    qsort(p.all, p.n, sizeof *p.all, busiest_first);
    answer_plural(w->out, (int64_t)w->n, "session", "sessions");
    buf_addz(w->out, " in ");
    answer_plural(w->out, (int64_t)p.n, "project", "projects");
    buf_addf(w->out, " (%.*s):\n", STR_FMT(w->period_name));
    for (size_t i = 0; i < p.n && i < MAX_PROJECTS; i++)
        put_project(w, &p.all[i]);
    if (p.n > MAX_PROJECTS)
        buf_addf(w->out, "\nand %zu more projects\n", p.n - MAX_PROJECTS);
    return true;
}
