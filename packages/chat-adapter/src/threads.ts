import type { Client, Thread } from '@agent-messaging/client';
import type { ChannelInfo, ThreadInfo } from 'chat';
import { translateErrors } from './errors.ts';
import { decodeThreadId, encodeThreadId } from './thread-ids.ts';

/** The maximum number of threads of which memory holds whether they are direct. The next message of another thread adds it again. */
const maxKnownThreads = 10_000;

const hasTwoMembers = ({ members }: Thread): boolean => members.length === 2;

/** Creates the calls about threads. A thread is direct while the bot and one other agent are its members. */
export function createThreads(client: Client) {
  const known = new Map<string, boolean>();

  function remember(thread: Thread): string {
    const threadId = encodeThreadId({ thread_id: thread.id });
    known.delete(threadId);
    known.set(threadId, hasTwoMembers(thread));
    const [oldest] = known.keys();
    if (known.size > maxKnownThreads && oldest !== undefined) known.delete(oldest);
    return threadId;
  }

  async function get(threadId: string) {
    const thread = await translateErrors(() => client.threads.get(decodeThreadId(threadId)));
    remember(thread);
    const { subject, ...metadata } = thread;
    return { isDM: hasTwoMembers(thread), subject, metadata };
  }

  return {
    remember,
    isDirect: (threadId: string): boolean => known.get(threadId) ?? false,
    async fetchThread(threadId: string): Promise<ThreadInfo> {
      const { subject, ...info } = await get(threadId);
      return {
        id: threadId,
        channelId: threadId,
        ...(subject !== null && { channelName: subject }),
        ...info,
      };
    },
    async fetchChannelInfo(channelId: string): Promise<ChannelInfo> {
      const { subject, ...info } = await get(channelId);
      const memberCount = info.metadata.members.length;
      return { id: channelId, ...(subject !== null && { name: subject }), memberCount, ...info };
    },
    /** Returns the most recently used active thread with an agent alone, or a new one. Takes an id or a handle. */
    openDirect: (agent_ref: string): Promise<string> =>
      translateErrors(async () => {
        const { canonical_handle: handle } = await client.agents.get({ agent_ref });
        for await (const thread of client.threads.list({ with_handle: handle, status: 'active' }))
          if (hasTwoMembers(thread)) return remember(thread);
        return remember(await client.threads.create({ with_handle: handle }));
      }),
  };
}
