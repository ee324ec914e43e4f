import type { Attempted, ContactAsk, History, Send } from '../history.ts';
import { type Flaw, repeated } from './flaw.ts';

/** One effect for each key: it was acknowledged, and every try of it got the same answer. */
function* checkAnswers(what: string, attempts: readonly Attempted<object>[]): Generator<Flaw> {
  for (const { key, tries, answers } of attempts) {
    if (answers.length === 0) yield { kind: 'unacknowledged', what: `${what} ${key} after ${tries} tries` };
    const different = new Set(answers.map((answer) => JSON.stringify(answer)));
    if (different.size > 1) {
      yield {
        kind: 'doubled',
        what: `${what} ${key} has ${different.size} answers: ${[...different].join(' ')}`,
      };
    }
  }
}

/** No two keys may have got the same effect. */
function* checkShared(what: string, ids: readonly string[]): Generator<Flaw> {
  for (const id of repeated(ids)) yield { kind: 'changed', what: `${what} ${id} was the answer to two keys` };
}

/** What was acknowledged happened, once, as it was asked for. */
export function* checkEffects(history: History): Generator<Flaw> {
  const { sends, asks, requests } = history;
  yield* checkAnswers('send', sends);
  yield* checkAnswers('contact request', asks);
  yield* checkShared('message', sends.flatMap(firstMessage));
  yield* checkShared('contact request', asks.flatMap(firstRequest));
  yield* checkRequests(asks, requests);
}

function* checkRequests(asks: readonly ContactAsk[], requests: History['requests']): Generator<Flaw> {
  for (const { by, request_ids } of requests) {
    const asked = new Set(asks.filter((ask) => ask.by === by).flatMap(firstRequest));
    for (const id of repeated(request_ids))
      yield { kind: 'doubled', what: `request ${id} in the list of ${by}` };
    for (const id of asked)
      if (!request_ids.includes(id)) yield { kind: 'lost', what: `request ${id} of ${by}` };
    for (const id of request_ids) {
      if (!asked.has(id)) yield { kind: 'doubled', what: `request ${id} of ${by}, which no key asked for` };
    }
  }
}

const firstMessage = ({ answers }: Send) => answers.slice(0, 1).map(({ message_id }) => message_id);
const firstRequest = ({ answers }: ContactAsk) => answers.slice(0, 1).map(({ request_id }) => request_id);
