#include "demo/checklist.h"

#include "base/str.h"

/* "Restore drill", a session of Claude Code. */
#define SESSION "118dfac3"

const ChecklistItem demo_checklist[] = {
    { "search", "Search all sessions", "talaria --demo sessions search \"restore a snapshot\"" },
    { "open", "Open a session you found", "talaria --demo sessions show " SESSION },
    { "template", "Make a template from it",
      "talaria --demo templates create " SESSION " --name restore-drill" },
    { "handoff", "Move a session to the local chat (while 'talaria up --demo' runs)",
      "talaria --demo handoff local" },
    { "back", "Bring it back", "talaria --demo handoff back" },
    { "night", "Run a night: learn from repeated tasks (simulated, no model needed)",
      "talaria --demo sleep run --backend mock" },
    { "adopt", "Adopt what it proposes", "talaria --demo sleep adopt" },
    { "undo", "Undo the adoption", "talaria --demo sleep undo" },
};

const size_t demo_checklist_count = ARRAY_LEN(demo_checklist);

void demo_checklist_put(JsonWriter *w)
{
    json_key(w, "checklist");
    json_begin(w, '[');
    for (size_t i = 0; i < demo_checklist_count; i++) {
        json_begin(w, '{');
        json_field_str(w, "id", str_of(demo_checklist[i].id));
        json_field_str(w, "title", str_of(demo_checklist[i].title));
        json_field_str(w, "command", str_of(demo_checklist[i].command));
        json_end(w, '}');
    }
    json_end(w, ']');
}
