export interface BatchLoaderOptions<Request, Answer> {
  /** Requests with one key that meet in one batch share the answer. */
  key(request: Request): string;
  /** One answer for each request, in their order. */
  load(requests: readonly Request[]): Promise<readonly Answer[]>;
  /** Requests in one batch, at most. */
  maxBatchSize: number;
  /** Batches under way at once, at most; what comes meanwhile gathers for the next one. */
  maxConcurrent: number;
}

interface Waiting<Request, Answer> {
  request: Request;
  promise: Promise<Answer>;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/**
 * Turns single requests into batches: whatever is asked for within one turn of the event loop is loaded together. An answer is
 * never older than its request. A batch that fails rejects all its requests.
 */
export function createBatchLoader<Request, Answer>(
  options: BatchLoaderOptions<Request, Answer>,
): (request: Request) => Promise<Answer> {
  const waiting = new Map<string, Waiting<Request, Answer>>();
  let underWay = 0;
  let scheduled = false;

  function schedule(): void {
    if (scheduled || waiting.size === 0 || underWay >= options.maxConcurrent) return;
    scheduled = true;
    setImmediate(send);
  }

  function send(): void {
    scheduled = false;
    while (waiting.size > 0 && underWay < options.maxConcurrent) {
      const batch: Waiting<Request, Answer>[] = [];
      for (const [key, entry] of waiting) {
        if (batch.length === options.maxBatchSize) break;
        batch.push(entry);
        waiting.delete(key);
      }
      void run(batch);
    }
  }

  async function run(batch: readonly Waiting<Request, Answer>[]): Promise<void> {
    underWay += 1;
    try {
      const answers = await options.load(batch.map((entry) => entry.request));
      for (const [index, entry] of batch.entries()) {
        const answer = answers[index];
        if (answer === undefined) entry.reject(new Error('a batch left a request without an answer'));
        else entry.resolve(answer);
      }
    } catch (error) {
      for (const entry of batch) entry.reject(error);
    } finally {
      underWay -= 1;
      schedule();
    }
  }

  return (request) => {
    const key = options.key(request);
    const known = waiting.get(key);
    if (known) return known.promise;
    const entry = deferred<Request, Answer>(request);
    waiting.set(key, entry);
    schedule();
    return entry.promise;
  };
}

function deferred<Request, Answer>(request: Request): Waiting<Request, Answer> {
  let settle: Pick<Waiting<Request, Answer>, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<Answer>((resolve, reject) => {
    settle = { resolve, reject };
  });
  if (!settle) throw new Error('a promise did not start');
  return { request, promise, ...settle };
}
