/** Options of one call. */
export interface CallOptions {
  /** Ends the call and its retries. */
  signal?: AbortSignal | undefined;
  /** For the whole call with its retries; default: 60,000. */
  timeoutMs?: number | undefined;
  /** For a write; default: a new one for each call. Use your own to repeat a call after a restart without a second effect. */
  idempotencyKey?: string | undefined;
  /** Attempts after the first; default: 2. */
  maxRetries?: number | undefined;
}

/** A list: its items over all pages, or its pages. Each iteration starts at the first page. */
export interface List<Item, Page> extends AsyncIterable<Item> {
  /** The pages, each when it is asked for. */
  pages(): AsyncIterable<Page>;
  /** The first page. */
  page(): Promise<Page>;
}

/** How an operation is sent. */
export interface Route {
  method: string;
  /** Relative to /v1; `{name}` is a field of the input. */
  path: string;
  /** False: its method has options only. */
  takesInput?: false;
  /** Whether the request has an Idempotency-Key. */
  takesKey?: true;
  /** For a list: the field with the items. */
  items?: string;
}

export type Input = Readonly<Record<string, unknown>>;
