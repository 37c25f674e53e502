/* shortlist_skills.h - skills that nobody has and requests that anybody might make.
 *
 * Written as skills usually are: a description of one or two sentences that says what it is for,
 * and a body that names the tools, files and symptoms at hand. The requests were written as a user
 * would put them, without looking at how a skill says it: some have a word of the description, some
 * only one of the body, some none at all. Shared by the bench and a unit test. */
#ifndef TALARIA_BENCH_SHORTLIST_SKILLS_H
#define TALARIA_BENCH_SHORTLIST_SKILLS_H

#include "recall/skills.h"

enum { REQUESTS = 3 };

typedef struct MadeSkill {
    const char *name, *description, *tags, *headings, *body;
    const char *requests[REQUESTS];
} MadeSkill;

static const MadeSkill made_skills[] = {
    { "harbor-release",
      "Deploy a new version of a service to Kubernetes with Helm. Use for releases, upgrades and "
      "rollbacks.",
      "kubernetes helm deploy",
      "Rollout\nCanary\nRollback",
      "Bump the chart, run helm upgrade, watch the pods with kubectl rollout status. Send five "
      "percent "
      "of traffic to the canary first. When error rates rise, helm rollback to the previous "
      "revision.",
      { "the pods keep crashing since the last helm upgrade, go back to the previous revision",
        "send a small share of traffic to the new build first",
        "put version 2.4 on the cluster" } },
    { "slow-query-doctor",
      "Diagnose slow PostgreSQL queries and propose indexes. Use when the database is the "
      "bottleneck.",
      "postgres sql performance",
      "Explain plans\nMissing indexes\nLocks",
      "Run EXPLAIN ANALYZE with buffers. Look for sequential scans over large tables, bad row "
      "estimates, sorts that spill to disk. Check pg_stat_statements and pg_locks. Propose an "
      "index.",
      { "this select takes forty seconds and does a sequential scan",
        "orders page hangs, I think something holds a lock in postgres",
        "do we need an index on customer_id" } },
    { "invoice-reader",
      "Extract structured data from scanned invoices and receipts with OCR.",
      "ocr pdf accounting",
      "Text layer\nTables\nTotals",
      "Try pdftotext first; where there is no text layer run tesseract. Find the vendor, the tax "
      "id, "
      "line items and the amount due. Check that the sum of the lines is the total.",
      { "get the amount due and the vendor from these receipts",
        "this bill is a photo without a text layer, what does it say",
        "add up the line items and see whether the tax is right" } },
    { "flaky-hunter",
      "Find and fix flaky tests so that the suite can be trusted in CI.",
      "testing ci",
      "Reproduce\nIsolate\nQuarantine",
      "Run the failing test a hundred times with a random order and seed. Look for sleeps, shared "
      "ports, time zones, leftovers in the temp folder. Quarantine what cannot be repaired today.",
      { "the checkout test passes locally but fails every third time on the build server",
        "tests break when they run in random order",
        "something depends on a sleep in our specs" } },
    { "voice-notes",
      "Transcribe audio recordings such as meetings and voice memos to text.",
      "audio whisper transcription",
      "Convert\nTranscribe\nSpeakers",
      "Convert with ffmpeg to 16 kHz mono wav. Run whisper with the language given. Split by "
      "speaker, "
      "put time stamps every minute, and mark what could not be understood.",
      { "I have an m4a of yesterday's meeting, who said what",
        "write down what is said in this podcast",
        "subtitles with time stamps for the interview" } },
    { "seal-secrets",
      "Detect leaked credentials in git repositories and clean them up.",
      "security git",
      "Scan\nRotate\nRewrite history",
      "Scan all commits with gitleaks. Rotate every key that was found before anything else. Then "
      "rewrite history with git filter-repo and tell everybody to clone again.",
      { "I pushed an aws key by accident, what now", "check that no password is in our commits",
        "remove a file from all of history" } },
    { "garden-planner",
      "Plan a vegetable garden: what to plant, where and at what time of the year.",
      "plants calendar home",
      "Frost dates\nBeds\nRotation",
      "Look up the last frost for the place. Tomatoes go out two weeks later. Rotate nightshades, "
      "legumes and brassicas between the beds. Water seedlings from below.",
      { "when can tomatoes go outside here", "what should follow beans in the raised beds",
        "is it too early for the seedlings" } },
    { "figure-maker",
      "Create publication quality charts from tabular data with matplotlib.",
      "matplotlib plotting data",
      "Axes\nColours\nExport",
      "Use matplotlib with a fixed size in inches. Label axes with units, use a palette that the "
      "colour blind can read, export to svg and pdf, never a pie.",
      { "plot latency by month with units on the axes", "the colours cannot be told apart in print",
        "svg of the csv for the paper" } },
    { "standup-writer",
      "Write the daily standup report from recent repository activity.",
      "git summary team",
      "Collect\nGroup\nBlockers",
      "Collect commits and merged pull requests of the last working day. Group them by ticket. "
      "Name "
      "blockers and who can remove them. Three bullets, no more.",
      { "what did I do on friday", "short update for the team from my merged pull requests",
        "list blockers by ticket" } },
    { "mail-triage",
      "Triage an email inbox: prioritise, answer and archive messages.",
      "email imap productivity",
      "Sort\nDraft\nUnsubscribe",
      "Fetch unread messages over imap. Sort into answer, wait, archive. Draft replies in the tone "
      "of "
      "the last thread. Collect newsletters and offer to unsubscribe.",
      { "I have 900 unread messages", "get me off these newsletters",
        "draft replies to whatever waits" } },
    { "kernel-bisect",
      "Bisect a regression in the Linux kernel or another large git project to the commit that "
      "caused it.",
      "linux git debugging",
      "Good and bad\nAutomate\nReport",
      "Mark a good and a bad revision, let git bisect run a script that exits 125 where the build "
      "is "
      "broken. Boot in qemu. Report the first bad commit with its author.",
      { "which commit made suspend stop working", "it worked in 6.1 and is broken in 6.5",
        "find the first revision where the boot hangs" } },
    { "recipe-scaler",
      "Scale recipes up or down and convert measurements between systems.",
      "food cooking",
      "Convert\nPans\nTimes",
      "Convert cups to grams. Scale the leavening by less than the flour. A larger pan changes the "
      "oven time: check ten minutes early.",
      { "this cake serves six but I need it for twenty", "how many grams is two cups of flour",
        "bigger pan, how long in the oven" } },
    { "access-audit",
      "Audit web pages for accessibility against WCAG and suggest fixes.",
      "a11y wcag frontend",
      "Keyboard\nContrast\nScreen readers",
      "Walk through with the tab key alone. Run axe. Contrast at least 4.5. Give every input a "
      "label "
      "and every image an alternative text; test with NVDA and VoiceOver.",
      { "blind users say the form has no labels", "is grey on white readable enough",
        "can one reach the menu with the tab key" } },
    { "dns-medic",
      "Troubleshoot DNS problems: wrong records, propagation and validation failures.",
      "network domains",
      "Trace\nTTL\nDNSSEC",
      "dig +trace from the root. Compare the answers of all authoritative servers. Mind the TTL of "
      "the "
      "old record. Check the DS record where validation fails with SERVFAIL.",
      { "the domain answers SERVFAIL for some people",
        "we moved servers an hour ago and half the "
        "world still sees the old address",
        "dig shows two different answers" } },
    { "lease-reader",
      "Read a lease and answer a tenant's questions about rights and duties.",
      "legal housing",
      "Notice\nDeposit\nRepairs",
      "Find the notice period, how the deposit is returned, who pays for repairs, and whether "
      "subletting is allowed. Quote the clause for every answer. Not legal advice.",
      { "can I sublet my flat in summer", "how long before I move out must I tell the landlord",
        "who has to pay for the broken boiler" } },
    { "bundle-diet",
      "Reduce JavaScript bundle size and improve page load time.",
      "javascript webpack performance",
      "Measure\nSplit\nImages",
      "Open the bundle analyzer. Split routes with dynamic import, drop moment for date-fns, serve "
      "webp and lazy load what is below the fold. Measure with lighthouse on a slow phone.",
      { "lighthouse gives us 38 on mobile", "our vendor chunk is four megabytes",
        "photos below the fold should come later" } },
    { "schema-mover",
      "Carry out zero downtime schema migrations on a production database.",
      "database migrations",
      "Expand\nBackfill\nContract",
      "Add the column as nullable, deploy code that writes both, backfill in batches of a "
      "thousand, "
      "then switch reads and drop the old column in a later release. Never rename in place.",
      { "rename a column while customers are using the app", "backfill ten million rows safely",
        "is it ok to drop the old column in the same release" } },
    { "photo-sorter",
      "Organise a photo library by date and remove duplicates.",
      "exif images files",
      "Dates\nDuplicates\nNames",
      "Read the exif date with exiftool, fall back to the file's time. Find duplicates by "
      "perceptual "
      "hash. Rename to year-month-day and move raw files beside their jpegs.",
      { "thousands of jpegs from two phones, many of them twice",
        "name the pictures by the day they "
        "were taken",
        "keep raw and jpeg together" } },
    { "threat-sketch",
      "Run a lightweight threat model of a system and list mitigations.",
      "security design",
      "Assets\nTrust boundaries\nMitigations",
      "Draw the data flow. For each trust boundary go through spoofing, tampering, repudiation, "
      "disclosure, denial of service and elevation. Rank and propose a mitigation each.",
      { "what could an attacker do with our upload endpoint",
        "go through spoofing and tampering for "
        "the login",
        "where are the trust boundaries here" } },
    { "spreadsheet-cleaner",
      "Clean messy spreadsheets: normalise values, dates and duplicate records.",
      "csv excel pandas",
      "Types\nDuplicates\nMissing",
      "Read everything as text first. Trim, unify dates, split full names, mark rows with missing "
      "values, merge duplicates by phone number. Keep a log of every change.",
      { "the dates in this xlsx are in three formats", "merge contacts that have one phone number",
        "some rows have empty cells, mark them" } },
    { "thesis-coach",
      "Edit academic writing for structure, clarity and correct citations.",
      "writing editing academic",
      "Argument\nParagraphs\nCitations",
      "Write the argument in one sentence. Each paragraph begins with its claim. Cut hedges. Check "
      "that each citation in the text is in the bibliography and the other way round.",
      { "is every reference in my bibliography really cited",
        "chapter two wanders, what is its claim", "too many hedges in this draft" } },
    { "memory-leak-finder",
      "Track down memory leaks in long running native programs.",
      "valgrind profiling c",
      "Heap profile\nOwners\nGrowth",
      "Run massif or heaptrack for an hour. Compare two snapshots and sort by growth. Look for "
      "caches "
      "without a limit and listeners that are never removed.",
      { "rss grows by a gigabyte a day", "the daemon gets killed by the oom killer every night",
        "heaptrack shows listeners piling up" } },
    { "trip-builder",
      "Build a travel itinerary for a city trip with sights, food and transport.",
      "travel maps",
      "Opening hours\nTransit\nRain",
      "Check opening hours and the weekly closing day of museums. Group sights by district, use "
      "transit between districts, keep one indoor plan for rain. Leave evenings open.",
      { "three days in Lisbon with a toddler", "which museums are closed on mondays",
        "something indoors in case it rains" } },
    { "cert-keeper",
      "Manage TLS certificates: monitoring expiry, renewal and chain problems.",
      "https certificates",
      "Inventory\nRenew\nChain",
      "List every name with its expiry through openssl s_client. Renew with certbot, reload nginx. "
      "Send the intermediate too: browsers may have it cached, curl has not.",
      { "browsers are happy but curl says it cannot verify the issuer", "what expires next month",
        "certbot ran and nginx still shows the old one" } },
    { "api-breakage",
      "Detect breaking changes between two versions of an OpenAPI specification.",
      "openapi compatibility",
      "Removed\nRequired\nEnums",
      "Diff the two openapi files. Removed paths, parameters that became required, enums that lost "
      "a "
      "value and narrowed types break clients. Suggest a deprecation header and a date.",
      { "will clients break if this parameter becomes mandatory",
        "what changed between v3 and v4 of "
        "our swagger",
        "we took a value out of an enum" } },
    { "budget-keeper",
      "Analyse personal spending from bank statements and keep a budget.",
      "finance ledger",
      "Import\nCategories\nSubscriptions",
      "Import bank csv into ledger. Give payees a category by rule. Find subscriptions: equal "
      "amounts "
      "in equal distances. Compare with the three months before.",
      { "which subscriptions am I paying for", "what did we spend on groceries in march",
        "my bank exports a csv, sort it by payee" } },
    { "container-slimmer",
      "Optimise Docker images for size, build speed and security.",
      "docker build",
      "Layers\nMulti stage\nUser",
      "Use multi stage builds, copy only the artefact, start from distroless, run as a user that "
      "is "
      "not root. Order layers so that dependencies stay cached. Scan with trivy.",
      { "our Dockerfile makes a two gigabyte thing", "every build downloads all dependencies anew",
        "trivy complains that it runs as root" } },
    { "language-partner",
      "Practise conversation in a foreign language with feedback from a patient tutor.",
      "learning spanish",
      "Level\nCorrections\nVocabulary",
      "Stay on the learner's level. Correct after each answer, the one most important mistake "
      "only. "
      "Collect new words with an example sentence and ask for them again later.",
      { "hablemos de mi fin de semana y corrígeme", "quiz me on the words from last time",
        "I want to practise ordering in a restaurant" } },
    { "log-detective",
      "Analyse server logs to reconstruct an incident and find its root cause.",
      "logs incident journald",
      "Timeline\nCorrelate\nFirst error",
      "Build a timeline in UTC out of journald and the access log. The first error matters, not "
      "the "
      "loudest. Correlate by request id. Look for restarts, full disks and clock jumps.",
      { "what happened at 3 am before the service restarted", "was the disk full when it went down",
        "follow one request id through all of it" } },
    { "shell-teacher",
      "Explain shell commands and scripts step by step and point out pitfalls.",
      "bash unix",
      "Quoting\nPipes\nSafer ways",
      "Take the line apart: program, flags, quoting, redirections. Say what would happen with a "
      "space "
      "in a file name. Offer a safer way with find -print0 and xargs -0.",
      { "what does 2>&1 do here", "this xargs breaks on names with a space",
        "go through the one-liner flag by flag" } },
    { "design-tokens",
      "Manage design tokens for colour, spacing and typography across code and design tools.",
      "css figma frontend",
      "Names\nDark mode\nExport",
      "Name by purpose, not by look. One json, exported to css variables and to Figma. Dark mode "
      "swaps values, never names. Delete hex codes from components.",
      { "we have forty different greys in components", "dark mode without touching each component",
        "sync css variables with figma" } },
    { "paper-scout",
      "Do a literature review: find, screen and compare research papers on a topic.",
      "research arxiv literature",
      "Search\nScreen\nTable",
      "Search arxiv and semantic scholar, follow citations one step back and forth. Screen by "
      "abstract. Make a table: claim, data, size, code. Say what nobody has tried.",
      { "has anybody tried diffusion for tabular data", "related work for my proposal with links",
        "table of claims and datasets from recent preprints" } },
    { "queue-tuner",
      "Tune message queues and background workers: lag, retries and throughput.",
      "kafka rabbitmq backend",
      "Lag\nPoison messages\nRetries",
      "Watch consumer lag per partition. Messages that fail five times go to a dead letter topic. "
      "Retry with jitter. Scale consumers up to the number of partitions and no further.",
      { "consumers are three hours behind", "one broken message blocks all the others",
        "does it help to start more workers than partitions" } },
    { "fit-coach",
      "Create a training plan for distance runners from beginner to race day.",
      "sport running health",
      "Base\nLong run\nTaper",
      "Four runs a week, most of them slow. The long run grows by ten percent, every fourth week "
      "is "
      "lighter. Taper for two weeks before the race. Stop for pain in a joint.",
      { "half marathon in october, I can do five kilometres", "my knee hurts after sunday",
        "how slow is slow" } },
    { "type-migrator",
      "Migrate a dynamically typed code base to static types step by step.",
      "typescript mypy refactoring",
      "Strictness\nLeaves first\nAny",
      "Begin with modules that import nothing. Turn on strict flags one by one. Replace any by "
      "unknown and narrow. Fail the build when the count of ignores grows.",
      { "we want strict mode but there are four thousand errors", "get rid of any in the helpers",
        "where do I begin annotating this python project" } },
    { "backup-drill",
      "Test disaster recovery by restoring backups and checking the result.",
      "restic disaster recovery",
      "Restore\nVerify\nTime",
      "Restore last night's restic snapshot to an empty machine. Compare checksums and row counts. "
      "Note how long it took. A backup that was never restored does not count.",
      { "could we get everything back if the server burned down",
        "compare checksums after a restore", "how long would recovery take" } },
};

enum { MADE_SKILLS = ARRAY_LEN(made_skills) };

static Skill made_skill(const MadeSkill *m, bool headline)
{
    Skill s = { .name = str_of(m->name), .description = str_of(m->description) };

    if (!headline) {
        s.tags = str_of(m->tags);
        s.headings = str_of(m->headings);
        s.body = str_of(m->body);
    }
    return s;
}

typedef struct Hits {
    size_t at_1, at_8, asked;
} Hits;

static bool ask_one(Skills *s, const char *request, Str wanted, Hits *ret, Err *err)
{
    AUTO(Arena) *a = arena_new();
    ShortlistQuery query = { .text = str_of(request) };
    Shortlist found;

    if (!skills_shortlist(s, a, &query, &found, err))
        return false;
    ret->asked++;
    for (size_t i = 0; i < found.n; i++)
        if (str_eq(found.picks[i].name, wanted)) {
            ret->at_1 += i == 0;
            ret->at_8++;
        }
    return true;
}

/* Over the skills above: all of their text, or name and description alone. */
static bool ask_made_up(bool headline, Hits *ret, Err *err)
{
    SkillPlaces nowhere = { .only = STR("/nonexistent") };
    AUTO(Skills) *s = skills_open(&nowhere, err);
    Skill all[MADE_SKILLS];

    *ret = (Hits){ 0 };
    for (size_t i = 0; i < MADE_SKILLS; i++)
        all[i] = made_skill(&made_skills[i], headline);
    if (!s || !skills_put(s, all, MADE_SKILLS, err))
        return false;
    for (size_t i = 0; i < MADE_SKILLS; i++)
        for (size_t j = 0; j < REQUESTS; j++)
            if (!ask_one(s, made_skills[i].requests[j], str_of(made_skills[i].name), ret, err))
                return false;
    return true;
}

#endif
