import type { Random } from '../random.ts';

/** What the load knows about a thread. */
export interface ThreadState {
  readonly thread_id: string;
  /** Agents that can act in the thread. */
  members(): readonly string[];
  /** The last sequence that was acknowledged. */
  last(): number;
  /** The id of a message in the thread; null before the first acknowledgement. */
  pickMessage(): string | null;
  addMessage(message: { message_id: string; sequence: number }): void;
  /** Runs an action of a member, which cannot be removed in the meantime. */
  act<T>(agentId: string, run: () => Promise<T>): Promise<T>;
  /** Adds an agent for which no other change runs. `run` returns whether it was added. Undefined if there is none. */
  add(agents: readonly string[], run: (agentId: string) => Promise<boolean>): Promise<boolean> | undefined;
  /** Removes a member that does nothing now, but never the first one. `run` returns whether it was removed. */
  remove(run: (agentId: string) => Promise<boolean>): Promise<boolean> | undefined;
}

/** Fewer members are not left in a thread. */
const minMembers = 2;
const keptMessages = 20;

/** @param options `isPair`: the thread takes no further member. */
export function createThreadState(
  random: Random,
  thread: { thread_id: string; members: readonly string[] },
  { isPair = false } = {},
): ThreadState {
  const members = [...thread.members];
  const running = new Map<string, number>();
  /** Agents that are being added or removed. */
  const changing = new Set<string>();
  const messages: string[] = [];
  let last = 0;

  async function change(agentId: string, run: (agentId: string) => Promise<boolean>): Promise<boolean> {
    changing.add(agentId);
    const isDone = await run(agentId);
    // Without an acknowledgement, nothing is known about its membership.
    if (isDone) changing.delete(agentId);
    return isDone;
  }

  return {
    thread_id: thread.thread_id,
    members: () => members,
    last: () => last,
    pickMessage: () => (messages.length === 0 ? null : random.pick(messages)),
    addMessage({ message_id, sequence }) {
      last = Math.max(last, sequence);
      messages.push(message_id);
      if (messages.length > keptMessages) messages.shift();
    },
    async act(agentId, run) {
      running.set(agentId, (running.get(agentId) ?? 0) + 1);
      try {
        return await run();
      } finally {
        running.set(agentId, (running.get(agentId) ?? 0) - 1);
      }
    },
    add(agents, run) {
      const others = agents.filter((id) => !members.includes(id) && !changing.has(id));
      if (isPair || others.length === 0) return undefined;
      return change(random.pick(others), async (agentId) => {
        const isAdded = await run(agentId);
        if (isAdded) members.push(agentId);
        return isAdded;
      });
    },
    remove(run) {
      const idle = members.slice(1).filter((id) => !changing.has(id) && (running.get(id) ?? 0) === 0);
      if (idle.length === 0 || members.length <= minMembers) return undefined;
      const agentId = random.pick(idle);
      members.splice(members.indexOf(agentId), 1);
      return change(agentId, run);
    },
  };
}
