// The JSON of the API, as docs/page.md and the CLI's --json describe it. Fields that a server may leave
// out are optional here, so that the compiler asks what is shown without them.

export type Tier = "Copper" | "Silver" | "Gold" | "Diamond" | "Olympian";
export const tiers: readonly Tier[] = ["Copper", "Silver", "Gold", "Diamond", "Olympian"];

export interface Achievement {
  id: string;
  name: string;
  description: string;
  category: string;
  kind: string;
  icon: string;
  secret?: boolean;
  threshold_metric?: string;
  tiers?: { name: Tier; threshold: number }[];
  requirements?: { metric: string; gte: number }[];
  unlocked: boolean;
  discovered: boolean;
  state: "unlocked" | "discovered" | "secret";
  tier: Tier | null;
  progress: number;
  next_tier: Tier | null;
  next_threshold: number;
  progress_pct: number;
  unlocked_at?: number | null;
  evidence?: { session_id: string; title: string; value: number; message_id?: number | null } | null;
  criteria?: string;
}

export interface ScanStatus {
  state: "idle" | "running" | "failed";
  last_error?: string | null;
}

export interface Achievements {
  achievements: Achievement[];
  unlocked_count: number;
  discovered_count: number;
  secret_count: number;
  total_count: number;
  error: string | null;
  generated_at: number;
  is_stale: boolean;
  scan_meta: {
    mode: "pending" | "in_progress" | "full" | "incremental" | "failed";
    sessions_total: number;
    sessions_scanned_so_far?: number;
    sessions_expected_total?: number;
    status?: ScanStatus;
  };
  sources?: Record<string, number>; // sessions counted, by who wrote them
}

export interface Part {
  id: string;
  title?: string | null;
  started_at: number;
  ended_at?: number | null;
  end_reason?: string | null;
  messages: number;
  tool_calls: number;
}

export interface Session {
  id: string;
  home?: string;
  origin?: string; // hermes, claude, codex, talaria
  source: string; // within Hermes: cli, telegram, …
  model: string | null;
  title: string | null;
  cwd: string | null;
  git_branch?: string | null;
  branch?: string | null;
  side_chain?: boolean;
  activity?: number[] | null; // sixteen, 0 to 255
  tools?: string[] | null;
  archived: boolean;
  started_at: number;
  last_active: number;
  messages: number;
  tool_calls: number;
  input_tokens: number | null;
  output_tokens: number | null;
  cost_usd: number | null;
  parts: Part[];
  own?: boolean; // kept by Talaria: it can be renamed, archived and deleted
  resume_command?: string | null; // of the agent that wrote it
  continues?: { session_id: string; origin: string } | null;
  continued_in?: string | null; // a session or conversation
}

export interface SessionPage {
  sessions: Session[];
  next_cursor: string | null;
  partial?: boolean; // the index is still being made
}

export interface Facet {
  name: string;
  title?: string;
  sessions: number;
  continued?: number; // of them: in a conversation of Talaria's, which is not counted beside them
  continuing?: number; // conversations that are counted with the session they continue
}

export interface Facets {
  origins: Facet[];
  projects: Facet[];
  models: Facet[];
  tools: Facet[];
  partial?: boolean; // transcripts are still being read
}

export interface Hit {
  session: string;
  origin: string;
  title: string | null;
  project: string | null;
  role: string;
  tool: string | null;
  at: number;
  message: number;
  snippet: { text: string; hit: boolean }[];
}

export interface SearchPage {
  query: string;
  hits: Hit[];
  more: boolean;
  similar?: number; // passages left out because another one says nearly the same
  took_ms: number;
  partial: boolean;
  note: string | null;
}

export interface IndexState {
  updating: boolean;
  done: number;
  total: number;
}

export interface ToolCall {
  id: string | null;
  name: string;
  arguments: string;
  ok?: boolean | null; // null: no result was seen
  outcome?: string | null; // in words
  result_id?: number | null;
  seconds?: number;
}

export interface Message {
  id: number;
  role: string;
  timestamp: number;
  content: string | null;
  bytes?: number; // of the whole text, where the server cut it
  html?: string | null;
  tool_name: string | null;
  tool_call_id: string | null;
  active: boolean;
  compacted: boolean;
  side_chain?: boolean;
  tool_calls: ToolCall[];
}

export interface MessagePage {
  messages: Message[];
  next_after: string | null;
}

export interface TemplateRow {
  name: string;
  type: string;
  examples: number;
  usage_count: number;
  created_at: number;
  description: string;
  source_session_id: string | null;
}

export interface Example {
  tool_name: string;
  arguments: Record<string, unknown>;
  result: string;
  success: boolean;
}

export interface TemplateShow {
  path: string;
  tokens: number;
  template: {
    name: string;
    task_type: string;
    examples: Example[];
    description: string;
    created_at: number;
    usage_count: number;
    source_session_id: string | null;
  };
}

export interface TemplateMade {
  dry_run: boolean;
  name: string;
  type: string;
  examples: number;
  calls: number;
  failed: number;
  too_large: number;
  tokens: number;
  exists?: boolean;
  template?: { examples?: Example[] };
}

export interface ChatMessage {
  role: string;
  content?: unknown;
  tool_calls?: { id: string; function?: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

export interface Injection {
  template: string;
  type: string;
  changed: boolean;
  reason: string;
  tokens?: number;
  messages: ChatMessage[];
}

export interface Decile {
  decile: number;
  calls: number;
  failed: number;
  share: number | null;
  low: number | null;
  high: number | null;
}

export interface StudyKind {
  kind: string;
  sessions: number;
  calls: number;
  failed: number;
  enough: boolean;
  slope: { per_decile: number; standard_error: number; low: number; high: number; differs_from_zero: boolean } | null;
  verdict: string;
  deciles: Decile[];
}

export interface Study {
  sessions: number;
  kinds: StudyKind[];
  method: string;
}

export interface Night {
  night: number;
  started_at: string; // 2026-11-15T03:17:00Z
  ended_at: string;
  project: string;
  backend: string;
  model: string;
  accepted: boolean;
  gate_action: string;
  baseline: number;
  candidate: number;
  interval: [number, number] | null; // of the gain, 95 %
  n_tasks: number;
  n_sessions: number;
  tokens: number;
  cost_usd: number;
  staging: string; // its name
  adopted: boolean;
  undone: boolean;
  rejected: boolean;
  no_edits_reason: string;
  n_proposals: number;
  verdict?: string; // in words
  simulated?: boolean; // no model answered
}

export interface Sleeping {
  night?: number;
  phase?: string;
  done?: number;
  total?: number;
  elsewhere?: boolean; // another program has one under way
}

// The last night that this server ran, in short.
export interface NightOutcome {
  night: number;
  dry_run: boolean;
  accepted: boolean;
  baseline: number;
  candidate: number;
  n_tasks: number;
  n_sessions: number;
  n_edits: number;
  no_edits_reason: string;
  staging: string;
  at: number;
}

export interface SleepPage {
  nights: Night[];
  running: Sleeping | null;
  last: NightOutcome | null;
  last_error: string | null;
  backend: string;
  schedules: { project: string; kind: string; when: string }[];
}

export interface SleepEdit {
  target: string;
  op: string;
  content: string;
  anchor: string;
  rationale: string;
}

// What one edit is worth, in the order of the edits.
export interface EditShare {
  skill: string;
  share: number;
  moved_tasks: string[];
  sessions: string[];
}

export interface SleepAnswer {
  hard: number;
  soft: number;
  response: string;
  fail_reason: string;
}

export interface SleepTask {
  id: string;
  intent: string;
  split: string;
  reference_kind: string;
  before?: SleepAnswer;
  after?: SleepAnswer;
  score_before?: number; // by which the night decided
  score_after?: number;
}

export interface NightDetail extends Night {
  skills: { skill_name: string; kind: string; live_path: string; live_state: string; diff: string; adopted: boolean }[];
  edits: SleepEdit[];
  edit_shares: EditShare[];
  rejected_edits: SleepEdit[];
  tasks: SleepTask[];
  notes: string[];
  report_md: string;
}

export interface Worth {
  sessions: number;
  tasks: number;
  recurring: number;
  checkable: number;
  max_calls: number;
  max_tokens: number;
  max_cost_usd: number | null;
  detectable_effect: number;
  verdict: string;
  text: string;
  backend?: string;
}

export interface Demo {
  demo: boolean;
  title?: string;
  checklist?: { id: string; title: string; command: string }[];
}

export interface Status {
  homes: Home[];
  sources?: Place[]; // every agent whose sessions are looked for
  features?: string[]; // tabs beyond those that always are
}

export interface Place {
  name: string; // hermes, claude, codex, talaria
  title: string;
  folder: string | null; // null: its history folders are among the homes
  present: boolean;
  sessions: number;
}

export interface Home {
  name: string;
  path: string;
  present: boolean;
  readable: boolean;
  sessions: number;
  trouble: string | null;
}
