import { expect } from 'vitest';
import { checkHistory } from '../../../chaos/check/check.ts';
import type { Violation } from '../../../chaos/check/violation.ts';
import type { History, SeenEvent, StoredThread } from '../../../chaos/history.ts';
import { createValidHistory } from './valid-history.ts';

/** One violation, or the same one this many times, for this many members. */
export type Expected = [kind: Violation['kind'], detail: RegExp, times?: number];

/** A change to a valid history, with exactly the violations that the checker must report. */
export type Mutation = [what: string, mutate: (history: History) => void, violations: Expected[]];

/** Applies a mutation to a valid history and compares the violations, in any order. */
export function expectViolations(
  mutate: Mutation[1],
  expected: readonly Expected[],
  history = createValidHistory(),
): void {
  mutate(history);
  const missing = expected.flatMap(([kind, detail, times = 1]) =>
    Array.from({ length: times }, () => ({ kind, detail })),
  );
  const unexpected = checkHistory(history).filter((violation) => {
    const index = missing.findIndex(
      ({ kind, detail }) => kind === violation.kind && detail.test(violation.detail),
    );
    if (index !== -1) missing.splice(index, 1);
    return index === -1;
  });
  expect({ unexpected, missing }).toEqual({ unexpected: [], missing: [] });
}

/** An item of a list. @throws when it does not exist */
export function at<T>(list: readonly T[] | undefined, index: number): T {
  const one = list?.[index];
  if (one === undefined) throw new Error(`nothing at ${index}`);
  return one;
}

/** A thread as an agent reads it. */
export function findStored({ stored }: History, agent: string, thread: string): StoredThread {
  return at(
    stored.filter(({ agent_id, thread_id }) => agent_id === agent && thread_id === thread),
    0,
  );
}

/** The lists of events of these agents: of their feeds, their readers and their webhooks. */
export function listEvents(history: History, agents: readonly string[]): SeenEvent[][] {
  const has = ({ agent_id }: { agent_id: string }) => agents.includes(agent_id);
  return [
    ...history.feeds.filter(has).map(({ events }) => events),
    ...history.readers.filter(has).map(({ seen }) => seen),
  ];
}

/** Gives the events of a list consecutive numbers. */
export function renumber(events: SeenEvent[]): void {
  for (const [index, event] of events.entries()) event.number = 11 + index;
}

/** Removes events as if they had never been written: from the feeds, the readers and the webhooks of these agents. */
export function removeEvents(history: History, agents: readonly string[], ids: readonly string[]): void {
  for (const events of listEvents(history, agents)) {
    const kept = events.filter(({ event_id }) => !ids.includes(event_id));
    events.splice(0, events.length, ...kept);
    renumber(events);
  }
  for (const webhook of history.webhooks)
    if (agents.includes(webhook.agent_id))
      webhook.posts = webhook.posts.filter(({ id }) => !ids.includes(id));
}

/** Changes the data of an event wherever these agents received it, except at webhooks. */
export function changeData(
  history: History,
  agents: readonly string[],
  id: string,
  // oxlint-disable-next-line typescript/no-explicit-any
  change: (data: any) => void,
): void {
  for (const event of listEvents(history, agents).flat()) {
    if (event.event_id === id) change(event.data);
  }
}
