import { createBatcher } from './batcher.ts';

export interface BatchLoaderOptions<Request, Answer> {
  /** Requests with the same key share one answer within a batch. */
  key(request: Request): string;
  /** Returns one answer for each request, in the same order. */
  load(requests: readonly Request[]): Promise<readonly Answer[]>;
  maxBatchSize: number;
  /** Batches that run at the same time. */
  maxConcurrent: number;
}

interface Deferred<Answer> {
  promise: Promise<Answer>;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

interface Pending<Request, Answer> {
  key: string;
  request: Request;
  answer: Deferred<Answer>;
}

/**
 * Loads single requests in batches: a batcher whose items have answers. An answer is never older than its request. When `load` rejects,
 * all requests of the batch reject.
 */
export function createBatchLoader<Request, Answer>({
  key: keyOf,
  load,
  maxBatchSize,
  maxConcurrent,
}: BatchLoaderOptions<Request, Answer>): (request: Request) => Promise<Answer> {
  /** Requests whose batch has not started. */
  const waiting = new Map<string, Pending<Request, Answer>>();

  async function loadBatch(batch: readonly Pending<Request, Answer>[]): Promise<void> {
    for (const { key } of batch) waiting.delete(key);
    try {
      const answers = await load(batch.map(({ request }) => request));
      for (const [index, { answer }] of batch.entries()) {
        const loaded = answers[index];
        if (loaded === undefined) answer.reject(new Error('A batch returned no answer for a request'));
        else answer.resolve(loaded);
      }
    } catch (error) {
      for (const { answer } of batch) answer.reject(error);
    }
  }

  const add = createBatcher<Pending<Request, Answer>>({
    maxBatchSize,
    maxConcurrent,
    run: (batch) => loadBatch(batch.map(({ item }) => item)),
  });

  return (request) => {
    const key = keyOf(request);
    const existing = waiting.get(key);
    if (existing) return existing.answer.promise;
    const pending = { key, request, answer: createDeferred<Answer>() };
    waiting.set(key, pending);
    add(pending);
    return pending.answer.promise;
  };
}

/** `Promise.withResolvers`, which Node 20 lacks. */
function createDeferred<Answer>(): Deferred<Answer> {
  let settle: Pick<Deferred<Answer>, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<Answer>((resolve, reject) => {
    settle = { resolve, reject };
  });
  if (!settle) throw new Error('unreachable: the executor of a promise runs at once');
  return { promise, ...settle };
}
