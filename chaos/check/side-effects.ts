import type { Attempt, ContactRequestAttempt, History, Send } from '../history.ts';
import { type Violation, findDuplicates } from './violation.ts';

/** One effect for each key: it was acknowledged, and every try of it got the same answer. */
function* checkAnswers(what: string, attempts: readonly Attempt<object>[]): Generator<Violation> {
  for (const { key, attempts: tries, answers } of attempts) {
    if (answers.length === 0) yield { kind: 'unacknowledged', detail: `${what} ${key} after ${tries} tries` };
    const different = new Set(answers.map((answer) => JSON.stringify(answer)));
    if (different.size > 1) {
      yield {
        kind: 'doubled',
        detail: `${what} ${key} has ${different.size} answers: ${[...different].join(' ')}`,
      };
    }
  }
}

/** No two keys may have got the same effect. */
function* checkUnique(what: string, ids: readonly string[]): Generator<Violation> {
  for (const id of findDuplicates(ids))
    yield { kind: 'changed', detail: `${what} ${id} was the answer to two keys` };
}

/** What was acknowledged happened, once, as it was asked for. */
export function* checkSideEffects(history: History): Generator<Violation> {
  const { sends, contact_requests, requests } = history;
  yield* checkAnswers('send', sends);
  yield* checkAnswers('contact request', contact_requests);
  yield* checkUnique('message', sends.flatMap(firstMessageId));
  yield* checkUnique('contact request', contact_requests.flatMap(firstRequestId));
  yield* checkRequests(contact_requests, requests);
}

function* checkRequests(
  asks: readonly ContactRequestAttempt[],
  requests: History['requests'],
): Generator<Violation> {
  for (const { by, request_ids } of requests) {
    const asked = new Set(asks.filter((ask) => ask.agent_id === by).flatMap(firstRequestId));
    for (const id of findDuplicates(request_ids))
      yield { kind: 'doubled', detail: `request ${id} in the list of ${by}` };
    for (const id of asked)
      if (!request_ids.includes(id)) yield { kind: 'lost', detail: `request ${id} of ${by}` };
    for (const id of request_ids) {
      if (!asked.has(id)) yield { kind: 'doubled', detail: `request ${id} of ${by}, which no key asked for` };
    }
  }
}

const firstMessageId = ({ answers }: Send) => answers.slice(0, 1).map(({ message_id }) => message_id);
const firstRequestId = ({ answers }: ContactRequestAttempt) =>
  answers.slice(0, 1).map(({ request_id }) => request_id);
