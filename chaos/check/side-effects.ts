import type { Attempt, ContactRequestAttempt, History, Send } from '../history.ts';
import { type Violation, findDuplicates } from './violation.ts';

/** Checks that each key was acknowledged and that all its attempts got the same answer. */
function* checkAnswers(what: string, attempts: readonly Attempt<object>[]): Generator<Violation> {
  for (const { key, attempts: count, answers } of attempts) {
    if (answers.length === 0)
      yield { kind: 'unacknowledged', detail: `${what} ${key} after ${count} attempts` };
    const different = new Set(answers.map((answer) => JSON.stringify(answer)));
    if (different.size > 1) {
      yield {
        kind: 'doubled',
        detail: `${what} ${key} has ${different.size} answers: ${[...different].join(' ')}`,
      };
    }
  }
}

/** Checks that no two keys have the same effect. */
function* checkUnique(what: string, ids: readonly string[]): Generator<Violation> {
  for (const id of findDuplicates(ids))
    yield { kind: 'changed', detail: `${what} ${id} was the answer to two keys` };
}

/** Checks that every acknowledged request took effect exactly once. */
export function* checkSideEffects(history: History): Generator<Violation> {
  const { sends, contact_requests, requests } = history;
  yield* checkAnswers('send', sends);
  yield* checkAnswers('contact request', contact_requests);
  yield* checkUnique('message', sends.flatMap(firstMessageId));
  yield* checkUnique('contact request', contact_requests.flatMap(firstRequestId));
  yield* checkRequests(contact_requests, requests);
}

function* checkRequests(
  attempts: readonly ContactRequestAttempt[],
  requests: History['requests'],
): Generator<Violation> {
  for (const { by, request_ids } of requests) {
    const expected = new Set(attempts.filter((attempt) => attempt.agent_id === by).flatMap(firstRequestId));
    for (const id of findDuplicates(request_ids))
      yield { kind: 'doubled', detail: `request ${id} in the list of ${by}` };
    for (const id of expected)
      if (!request_ids.includes(id)) yield { kind: 'lost', detail: `request ${id} of ${by}` };
    for (const id of request_ids) {
      if (!expected.has(id))
        yield { kind: 'doubled', detail: `request ${id} of ${by}, which no key asked for` };
    }
  }
}

const firstMessageId = ({ answers }: Send) => answers.slice(0, 1).map(({ message_id }) => message_id);
const firstRequestId = ({ answers }: ContactRequestAttempt) =>
  answers.slice(0, 1).map(({ request_id }) => request_id);
