import { setTimeout as pause } from 'node:timers/promises';
import type { A2aTask } from '../history.ts';
import { type A2aClient, a2aTask } from '../transports/a2a.ts';
import { readAnswer } from './actions.ts';

/** Follows the tasks of A2A clients over streams. */
export interface TaskStreams {
  follow(client: A2aClient, task: A2aTask): void;
  /** Reads every task, waits until its streams have told what it says, or `giveUp` aborts, and ends the streams. */
  finish(giveUp: AbortSignal): Promise<void>;
}

interface Followed {
  client: A2aClient;
  task: A2aTask;
  /** Whether the service has refused a further stream: the task has ended. */
  isOver: boolean;
}

/** How long a client waits before it subscribes again, in milliseconds. */
const reconnectDelayMs = 100;
/** A stream is cut after at most this many updates, so that most tasks are followed over several. */
const maxUpdatesOfStream = 3;

/** @param onComplaint is called with a description of what the service did wrong. */
export function createTaskStreams(onComplaint: (what: string) => void): TaskStreams {
  const stopping = new AbortController();
  const { signal } = stopping;
  const all: Followed[] = [];
  const running: Promise<void>[] = [];

  /** Reads one stream, which resumes after the last update. */
  async function readStream(followed: Followed): Promise<void> {
    const { client, task } = followed;
    const cut = new AbortController();
    const end = () => cut.abort();
    signal.addEventListener('abort', end, { once: true });
    let count = 0;
    task.streams += 1;
    const outcome = await client.subscribe(task.task_id, task.seen.at(-1)?.generation ?? 1, {
      signal: cut.signal,
      onUpdate(update) {
        // What arrives after the cut belongs to the next stream.
        if (count < maxUpdatesOfStream) task.seen.push(update);
        if ((count += 1) === maxUpdatesOfStream) end();
      },
    });
    signal.removeEventListener('abort', end);
    if (!outcome || !('refused' in outcome)) return;
    followed.isOver = true;
    if (outcome.code !== 'UNSUPPORTED_OPERATION')
      onComplaint(`the stream of ${task.task_id}: ${outcome.refused}`);
  }

  async function run(followed: Followed): Promise<void> {
    while (!signal.aborted && !followed.isOver) {
      await readStream(followed);
      await pause(reconnectDelayMs);
    }
  }

  async function complete(followed: Followed, giveUp: AbortSignal): Promise<void> {
    const { client, task } = followed;
    while (!giveUp.aborted) {
      const read = readAnswer(await client.call('GetTask', { id: task.task_id }), a2aTask);
      if ('answer' in read) task.read = read.answer;
      const last = task.seen.at(-1)?.generation ?? 1;
      if (task.read && (followed.isOver || last >= task.read.generation)) return;
      await pause(reconnectDelayMs);
    }
  }

  return {
    follow(client, task) {
      const followed = { client, task, isOver: false };
      all.push(followed);
      running.push(run(followed));
    },
    async finish(giveUp) {
      for (const followed of all) await complete(followed, giveUp);
      stopping.abort();
      await Promise.all(running);
    },
  };
}
