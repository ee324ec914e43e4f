import { isSameData } from '../event.ts';
import type { Attempt, ContactRequestAttempt, History, SentMessage } from '../history.ts';
import { type Violation, findDuplicates } from './violation.ts';

/** Checks that each key was acknowledged and that all its attempts got the same answer. */
function* checkAnswers(what: string, attempts: readonly Attempt<unknown>[]): Generator<Violation> {
  for (const { key, attempts: count, answers } of attempts) {
    if (answers.length === 0)
      yield { kind: 'unacknowledged', detail: `${what} ${key} after ${count} attempts` };
  }
  yield* checkEqualAnswers(what, attempts);
}

function* checkEqualAnswers(what: string, attempts: readonly Attempt<unknown>[]): Generator<Violation> {
  for (const { key, answers } of attempts) {
    const [first] = answers;
    const different = answers.filter((answer) => !isSameAnswer(answer, first));
    if (different.length === 0) continue;
    const texts = [first, ...different].map((answer) => JSON.stringify(answer));
    const detail = `${what} ${key} has ${texts.length} answers: ${texts.join(' ')}`;
    yield { kind: 'doubled', detail };
  }
}

function isSameAnswer(one: unknown, other: unknown): boolean {
  if (one === null || other === null) return one === other;
  const [{ fields = {}, ...ids }, { fields: otherFields = {}, ...otherIds }] = [
    one as Partial<SentMessage>,
    other as Partial<SentMessage>,
  ];
  return isSameData(fields, otherFields) && isSameData(ids, otherIds);
}

/** Checks that every acknowledged request took effect exactly once. */
export function* checkSideEffects(history: History): Generator<Violation> {
  const { sends, contact_requests, marks, member_changes, uploads, webhooks, requests } = history;
  const { leases, redrives } = history;
  const attempts = {
    send: sends,
    'contact request': contact_requests,
    'read mark': marks,
    'member change': member_changes,
    upload: uploads,
    webhook: webhooks,
    redrive: redrives,
    'task call': history.task_calls,
  };
  for (const [what, each] of Object.entries(attempts)) yield* checkAnswers(what, each);
  const writes = leases.flatMap((lease) => lease.writes);
  yield* checkEqualAnswers('lease write', writes);
  const ids = {
    message: listIds(sends, ({ message_id }) => message_id),
    'contact request': listIds(contact_requests, ({ request_id }) => request_id),
    attachment: listIds(uploads, ({ attachment_id }) => attachment_id),
    webhook: listIds(webhooks, ({ webhook_id }) => webhook_id),
  };
  for (const [what, each] of Object.entries(ids))
    for (const id of findDuplicates(each))
      yield { kind: 'changed', detail: `${what} ${id} was the answer to two keys` };
  yield* checkRequests(contact_requests, requests);
}

function* checkRequests(
  attempts: readonly ContactRequestAttempt[],
  requests: History['requests'],
): Generator<Violation> {
  for (const { by, request_ids } of requests) {
    const own = attempts.filter((attempt) => attempt.agent_id === by);
    const expected = new Set(listIds(own, ({ request_id }) => request_id));
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

/** The ids in the first answers. */
function listIds<Answer>(attempts: readonly Attempt<Answer>[], id: (answer: Answer) => string): string[] {
  return attempts.flatMap(({ answers }) => answers.slice(0, 1).map(id));
}
