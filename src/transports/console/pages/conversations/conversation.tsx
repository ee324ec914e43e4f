import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import { presentConversation } from '../../../../../packages/core/src/records/conversation.ts';
import { presentReceipt } from '../../../../../packages/core/src/records/receipt.ts';
import { presentToolMessage } from '../../../../../packages/core/src/records/tool-message.ts';
import {
  type ConversationPage,
  findConversationMessage,
  findSequenceAt,
  readConversationPage,
  signConversationDownload,
} from '../../../../services/threads/conversation-page.ts';
import { readLiveState } from '../../../../services/people/live-pages.ts';
import { readConversation } from '../../../../services/threads/conversations.ts';
import { liveRoute } from '../../define/live.ts';
import { page, type PersonVisit, type ShownPage } from '../../route.ts';
import { startOfDay, timeZoneOf } from '../../time-zone.ts';
import { conversationPage, type ConversationView, LiveContent, pageSize } from './conversation-view.tsx';
import { conversationAddress, conversationsAddress, readListQuery } from './filters.tsx';
import { readFoundPane } from './list.tsx';
import { ConversationPane, readConversationList } from './pane.tsx';

const path = `${conversationsAddress}/:id`;

/** Messages that are shown after the one that a link names. */
const contextAfter = 25;

/** Messages that an open page shows; the first ones go as more arrive. */
export const maxLiveMessages = 200;

const readerOf = ({ person: { account_id } }: Pick<PersonVisit, 'person'>) => ({ account_id });

async function renderLive(visit: PersonVisit) {
  const { params, query, read } = visit;
  const wanted = { thread_id: params['id'] ?? '', limit: maxLiveMessages };
  const found = await read(readConversationPage, readerOf(visit), wanted);
  const from = readSequence(query.get('from')) ?? 1;
  const whole = readSequence(query.get('whole'));
  const named = readSequence(query.get('at'));
  return { content: <LiveContent page={startAt(found, from)} whole={whole} named={named} /> };
}

/** One conversation: its messages, live at the end and as JSON too, and its files. */
export const conversationPages = [
  page(path, async (visit) => {
    const input = readQuery(visit);
    const message_id = visit.query.get('message');
    if (message_id !== null) {
      const { at } = await findPlace(visit, input.thread_id, message_id);
      return { to: `${conversationAddress(input.thread_id)}?at=${at}#${message_id}` };
    }
    const day = startOfDay(visit.query.get('date') ?? '', timeZoneOf(visit.ctx, visit.person));
    if (day !== undefined) {
      const at = await visit.read(findSequenceAt, readerOf(visit), { ...input, at: day });
      return { to: `${conversationAddress(input.thread_id)}?start=${at}` };
    }
    return showConversation(visit, input);
  }),
  liveRoute('/console/live/conversations/:id', 'live-thread', renderLive, 'id'),
  page(`${path}/raw`, async (visit) => {
    const found = await visit.read(readConversation, readerOf(visit), readQuery(visit));
    const { conversation, messages, receipts, earlier } = found;
    const shown = {
      conversation: presentConversation(conversation),
      messages: messages.map(({ relationship, ...row }) => presentToolMessage(row, relationship)),
      receipts: receipts.map(presentReceipt),
      earlier,
    };
    visit.ctx.set('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
    visit.ctx.type = 'application/json; charset=utf-8';
    visit.ctx.body = `${JSON.stringify(shown, undefined, 2)}\n`;
    return 'handled' as const;
  }),
  page(`${path}/files/:file`, async (visit) => {
    const { ctx, params, read } = visit;
    const file = { thread_id: params['id'] ?? '', attachment_id: params['file'] ?? '' };
    ctx.redirect(await read(signConversationDownload, readerOf(visit), file));
    return 'handled' as const;
  }),
];

/** Where a page shows a message; nowhere for no message. @throws {DomainError} MESSAGE_NOT_FOUND */
export async function findPlace(visit: PersonVisit, thread_id: string, message_id: string | undefined) {
  if (!message_id) return {};
  const wanted = { thread_id, message_id };
  const { sequence: at } = await visit.read(findConversationMessage, readerOf(visit), wanted);
  return { at, named: at, before_sequence: at + contextAfter };
}

/** The page of a conversation, with the list of conversations beside it. */
export async function showConversation(
  visit: PersonVisit,
  input: ConversationView & Parameters<typeof readConversationPage>[2],
): Promise<ShownPage> {
  // Before the messages: what comes in between is sent again.
  const state = await visit.read(readLiveState, visit.person, input.thread_id);
  const found = await visit.read(readConversationPage, readerOf(visit), input);
  return conversationPage(found, await readPane(visit, input), input, state?.cursor);
}

/** A search that is refused, or unavailable, does not keep a conversation closed. */
function orAllConversations(error: unknown): null {
  if (error instanceof DomainError) return null;
  throw error;
}

/** The list beside a conversation: the search results that it was opened from, or all conversations. */
async function readPane(
  visit: PersonVisit,
  { thread_id, at = null }: ConversationView & { thread_id: string },
) {
  const query = readListQuery(visit.query);
  const found =
    query.search === ''
      ? null
      : await readFoundPane(visit, query, { thread_id, at }).catch(orAllConversations);
  if (found) return found.pane;
  const list = await readConversationList(visit, readListQuery(new URLSearchParams()));
  return <ConversationPane list={list} open={thread_id} />;
}

interface ConversationQuery {
  thread_id: string;
  limit: number;
  before_sequence: number | undefined;
  /** The sequence of a message to show. */
  at: number | null;
  /** That of a message to mark. */
  named: number | null;
  /** The sequence of the message that is shown whole. */
  whole: number | null;
  /** The message to answer. */
  reply_to: string | null;
}

/** `before` names the end of an older page, `at` a message to show and mark, `start` one that is only shown. */
export function readQuery({ params, query }: Pick<PersonVisit, 'params' | 'query'>): ConversationQuery {
  const before = readSequence(query.get('before'));
  const named = readSequence(query.get('at'));
  const at = named ?? readSequence(query.get('start'));
  return {
    thread_id: params['id'] ?? '',
    limit: pageSize,
    before_sequence: before ?? (at === null ? undefined : at + contextAfter),
    at,
    named,
    whole: readSequence(query.get('whole')),
    reply_to: query.get('reply_to'),
  };
}

/** A sequence in a query; null if it is none. */
export function readSequence(text: string | null): number | null {
  return /^[1-9]\d{0,8}$/.test(text ?? '') ? Number(text) : null;
}

/** The page from a sequence on, so that a live page keeps the messages that it began with. */
export function startAt(found: ConversationPage, from: number): ConversationPage {
  const messages = found.messages.filter(({ sequence }) => sequence >= from);
  return { ...found, messages, earlier: found.earlier || messages.length < found.messages.length };
}
