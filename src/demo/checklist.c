#include "demo/checklist.h"

#include "base/str.h"

/* "Cards look cramped on phones", a session of Claude Code, and a chat of Talaria's: the ids of
 * both are the same at any time. */
#define SESSION "32dc6de5"
#define CHAT    "cd663bcb"

const ChecklistItem demo_checklist[] = {
    { "search", "Search all sessions of all agents",
      "talaria --demo sessions search \"cards cramped on phones\"", "" },
    { "open", "Open a session that it found", "talaria --demo sessions show " SESSION, "" },
    { "template", "Make a template from it",
      "talaria --demo templates create " SESSION " --name phone-layout", "" },
    { "handoff", "Hand a chat over to the local chat",
      "talaria --demo handoff local --session " CHAT, "while 'talaria up --demo' runs" },
    { "back", "Bring it back", "talaria --demo handoff back", "" },
    { "night", "Run a night: learn from repeated tasks (simulated, needs no model)",
      "talaria --demo sleep run --backend mock", "" },
    { "adopt", "Adopt its proposal", "talaria --demo sleep adopt", "" },
    { "undo", "Undo the adoption", "talaria --demo sleep undo", "" },
};

const size_t demo_checklist_count = ARRAY_LEN(demo_checklist);

void demo_checklist_put(JsonWriter *w)
{
    json_field_begin(w, "checklist", '[');
    for (size_t i = 0; i < demo_checklist_count; i++) {
        json_begin(w, '{');
        json_field_str(w, "id", str_of(demo_checklist[i].id));
        json_field_str(w, "title", str_of(demo_checklist[i].title));
        json_field_str(w, "command", str_of(demo_checklist[i].command));
        json_field_str(w, "needs", str_of(demo_checklist[i].needs));
        json_end(w, '}');
    }
    json_end(w, ']');
}
