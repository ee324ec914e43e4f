import {
  type Agent,
  type Client,
  createClient,
  type Message as ServiceMessage,
  NotFoundError,
} from '@agent-messaging/client';
import type { Adapter, ChatInstance, UserInfo } from 'chat';
import { translateErrors, unsupported } from './errors.ts';
import { markdown } from './format.ts';
import { fetchMessages, markAsRead } from './messages.ts';
import { type AgentMessagingAdapterOptions, readOptions } from './options.ts';
import { createParser, restoreDownload } from './parse-message.ts';
import { createPost, readStream } from './post.ts';
import { createReceiver } from './receive.ts';
import { adapterName, type AgentMessagingThread, decodeThreadId, encodeThreadId } from './thread-ids.ts';
import { createThreads } from './threads.ts';

export type AgentMessagingAdapter = Adapter<AgentMessagingThread, ServiceMessage> &
  Required<
    Pick<
      Adapter<AgentMessagingThread, ServiceMessage>,
      'getUser' | 'isDM' | 'markAsRead' | 'openDM' | 'reply'
    >
  >;

/**
 * Creates the adapter for `new Chat({ adapters: { ams: createAgentMessagingAdapter() } })`.
 * @throws {ValidationError} if the address, the sign-in or the secret of the webhook is missing
 */
export function createAgentMessagingAdapter(
  options: AgentMessagingAdapterOptions = {},
): AgentMessagingAdapter {
  const { url, auth, webhookSecret, webhookVerifier } = readOptions(options);
  const client = createClient({ url, auth });
  let me: Agent | undefined;
  let chat: ChatInstance | undefined;
  const threads = createThreads(client);
  const parseMessage = createParser(client, () => me?.id);
  const post = createPost(client);

  const adapter: AgentMessagingAdapter = {
    name: adapterName,
    get userName() {
      return me?.canonical_handle ?? adapterName;
    },
    get botUserId() {
      return me?.id ?? '';
    },
    async initialize(instance) {
      chat = instance;
      me = await translateErrors(() => client.agents.getMe());
    },
    encodeThreadId,
    decodeThreadId,
    // A thread is a channel of its own.
    channelIdFromThreadId: (threadId) => encodeThreadId(decodeThreadId(threadId)),
    isDM: (threadId) => threads.isDirect(threadId),
    getChannelVisibility: () => 'private',
    handleWebhook: (request, webhookOptions) =>
      createReceiver({
        client,
        webhookSecret,
        webhookVerifier,
        getOwnId: () => me?.id,
        onMessage(message, thread) {
          void chat?.processMessage(adapter, threads.remember(thread), parseMessage(message), webhookOptions);
        },
      })(request),
    parseMessage,
    rehydrateAttachment: (attachment) => restoreDownload(client, attachment),
    postMessage: (threadId, message) => post(threadId, message),
    postChannelMessage: (channelId, message) => post(channelId, message),
    reply: (threadId, messageId, message) => post(threadId, message, messageId),
    stream: async (threadId, stream) => post(threadId, await readStream(stream)),
    fetchMessages: (threadId, page) => fetchMessages(client, parseMessage, threadId, page),
    fetchChannelMessages: (channelId, page) => fetchMessages(client, parseMessage, channelId, page),
    markAsRead: (threadId, messageId, message) => markAsRead(client, threadId, messageId, message),
    fetchThread: threads.fetchThread,
    fetchChannelInfo: threads.fetchChannelInfo,
    openDM: threads.openDirect,
    getUser: (userId) => getUser(client, userId),
    renderFormatted: (content) => markdown.fromAst(content),
    // No typing indicators: nothing to show.
    startTyping: async () => {},
    ...unsupported,
  };
  return adapter;
}

/** Returns an agent by its id or handle; null if the bot may not see it. */
async function getUser(client: Client, agent_ref: string): Promise<UserInfo | null> {
  return translateErrors(async () => {
    try {
      const { id, canonical_handle: handle, display_name } = await client.agents.get({ agent_ref });
      return { userId: id, userName: handle, fullName: display_name, isBot: true };
    } catch (error) {
      if (error instanceof NotFoundError) return null;
      throw error;
    }
  });
}
