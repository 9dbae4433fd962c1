/** Made of jan_magics/widgets/protocol.json by `python -m tests.protocol_types`. */

/** Opens the comm jan-magics.hello, on which a kernel speaks to every page. */
export interface PageGreeting {
  protocol: number;
  version: string;
}

/** What is new of a turn: its text from `at` on, counted in UTF-16 units. */
export interface PageTurn {
  kind: 'turn';
  turn: string;
  cell: string;
  at: number;
  text: string;
  note: string;
}

/** A turn is over; `bundle` for pages where no display of it is, else `said` why there is none. */
export interface PageOver {
  kind: 'over';
  turn: string;
  cell: string;
  bundle: PageBundle | null;
  said: string;
}

/** A MIME bundle. */
export interface PageBundle {
  [key: string]: unknown;
}

/** The form application/vnd.jan-magics.turn+json of a turn that runs. */
export interface PageLive {
  schema: number;
  live: string;
  cell: string;
  markdown: string;
  note: string;
}

/** The same form of a turn that is over; `markdown` null: as `text`. */
export interface PageShown {
  schema: number;
  prompt: string;
  text: string;
  markdown: string | null;
  reasoning: string;
  calls: PageCall[];
  sources: PageSource[];
  model: string;
  thread: string;
  thread_id: string | null;
  message: string | null;
  finish: string | null;
  usage: Record<string, unknown> | null;
  timings: Record<string, unknown> | null;
  version: number;
  versions: number;
  footer: string;
}

/** A tool call of a turn, with its result. */
export interface PageCall {
  name: string;
  arguments: string;
  output: string;
  state: 'ok' | 'error' | 'denied' | 'interrupted' | null;
}

/** A chunk that was sent with a prompt. */
export interface PageSource {
  n: number;
  source: string;
  headings?: string;
  page?: number | null;
  score: number;
  chunk: string;
  collection?: string;
  cited?: boolean;
}

/** A source in its document as that is now; `cut`: whether that goes on before and after. */
export interface PageChunk {
  cut: boolean[];
  before: string;
  text: string;
  after: string;
}

/** The first word on jan-magics.page, which a page opens for its requests. */
export interface PageWelcome {
  kind: 'welcome';
  protocol: number;
  version: string;
}

/** What a page asks for; `n` comes back with the reply. */
export interface PageRequest {
  kind: string;
  n: number;
  [key: string]: unknown;
}

/** The reply to one request: what was asked for, or what failed. */
export interface PageReply {
  kind: 'reply';
  n: number | null;
  ok?: Record<string, unknown>;
  error?: PageRefusal;
}

/** A question is open: a page that was loaded since may join to be asked. */
export interface PageAsking {
  kind: 'asking';
}

/** What happened, and what to do about it. */
export interface PageRefusal {
  said: string;
  next: string;
}

/** An answer as a page names it, and the cell that shows it. */
export interface PagePlace {
  thread: string;
  message: string;
  cell?: string;
}

/** Where the cells of a notebook are; tokens of the newest turn, null where unknown. */
export interface PageStatus {
  thread: string;
  model: string;
  messages: number;
  tokens: number | null;
  budget: number | null;
}

/** How an answer stands: what the buttons under it can do. */
export interface PageState {
  version: number;
  versions: number;
  on_path: boolean;
  pinned: boolean;
  cut: boolean;
  live: boolean;
  memory: 'context' | 'summary' | 'dropped' | 'branch' | 'left';
}

/** Something that a panel shows is no longer as it was; it asks for what it shows. */
export interface PageChanged {
  kind: 'changed';
}

/** The thread that cells ask in is busy; '' no longer. */
export interface PageBusy {
  kind: 'busy';
  what: '' | 'answering' | 'compacting';
}

/** How far documents are on their way into a collection; `total` null: not known yet. */
export interface PageIngest {
  kind: 'ingest';
  collection: string;
  what: string;
  done: number;
  total: number | null;
  over: boolean;
}

/** Threads for a panel: the first of `total`; `current` is that of the cells, null: a new one. */
export interface PageThreads {
  rows: PageThread[];
  total: number;
  current: string | null;
}

/** A thread in the list; words that were looked for stand in «…» in the snippet. */
export interface PageThread {
  id: string;
  title: string;
  messages: number;
  branches: number;
  updated: string;
  fault: string;
  snippet: string;
}

/** The tree of the thread of the cells, a window of its rows; `pending`: the next turn begins a new branch. */
export interface PageTree {
  thread: string;
  messages: number;
  branches: number;
  pending: boolean;
  before: number;
  after: number;
  rows: PageTreeRow[];
}

/** A message; `depth` counts the versions that it stands in beside the main line. */
export interface PageTreeRow {
  depth: number;
  active: boolean;
  id: string;
  who: string;
  version: string;
  text: string;
}

/** The context window of the next turn in tokens, and what the four buttons can do; `failed`: the last compaction. */
export interface PageBudget {
  window: number | null;
  pieces: PagePiece[];
  marks: PageMark[];
  model: string;
  line: string;
  notices: string[];
  can: PageCan;
  busy: '' | 'answering' | 'compacting';
  failed: PageRefusal | null;
}

/** A piece of the context window; `tokens` null where nothing limits it. */
export interface PagePiece {
  piece: string;
  tokens: number | null;
  share: number | null;
  exact: boolean;
}

/** Where something begins to happen, in tokens that are sent. */
export interface PageMark {
  name: 'warn' | 'trim' | 'compact' | 'error';
  tokens: number;
}

/** Which of the four buttons would change something. */
export interface PageCan {
  clear: boolean;
  restore: boolean;
  compact: boolean;
  uncompact: boolean;
}

/** All collections, by name. */
export interface PageCollections {
  rows: PageCollection[];
}

/** A collection; `usual`: it is looked in where none is named; `server`: on one. Sizes null: it cannot be read. */
export interface PageCollection {
  id: string;
  name: string;
  owner: string;
  documents: number | null;
  chunks: number | null;
  fault: string;
  usual: boolean;
  server: boolean;
}

/** Documents of a collection: the first of `total`. */
export interface PageDocuments {
  rows: PageDocument[];
  total: number;
}

/** How a document stands in its collection. */
export interface PageDocument {
  source: string;
  status: string;
  reason: string;
  chunks: number | null;
}

/** What a question found, the best first; `search` names it for a look at a chunk. */
export interface PageFound {
  search: string;
  rows: PageHit[];
}

/** A hit with its scores. */
export interface PageHit {
  chunk: string;
  source: string;
  about: string;
  words: string;
  bars: PageScore[];
}

/** The score of a stage; `share` of its bar, from 0 to 1, and the score that fills it, '' for none. */
export interface PageScore {
  name: string;
  said: string;
  share: number;
  full: string;
}
