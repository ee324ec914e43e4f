import type { ComponentChildren } from 'preact';
import { isId } from '../../../../../packages/core/src/domain/ids.ts';
import { type FoundMessage, searchConversations } from '../../../../services/messages/search.ts';
import { type Conversation, requireConversation } from '../../../../services/threads/conversations.ts';
import { Empty, ErrorNotice } from '../../components/content.tsx';
import { Handle, NextPage, Rows, Time } from '../../components/rows.tsx';
import { toPage } from '../../define/list.tsx';
import { liveRoute } from '../../define/live.ts';
import { type FormErrors, formPage, orShowFormAgain } from '../../form-errors.ts';
import { type Answer, page, type PersonVisit } from '../../route.ts';
import { conversationAddress, conversationsAddress, type ListQuery, readListQuery } from './filters.tsx';
import {
  ConversationPane,
  Conversations,
  findListed,
  pageSize,
  PaneHeading,
  Panes,
  readConversationList,
  readHeading,
} from './pane.tsx';
import { titleOf } from './rows.tsx';

/** The threads of all agents that a person may act as, newest first. The first page is live. */
export const conversationListPages = [
  page(conversationsAddress, async (visit) => {
    const query = readListQuery(visit.query);
    if (query.search !== '') return showFound(visit, query);
    const list = await readConversationList(visit, query);
    const body = <Panes list={<ConversationPane list={list} />} />;
    return { title: 'Conversations', body };
  }),
  liveRoute('/console/live/conversations', 'live-list', async (visit) => {
    const query = { ...readListQuery(visit.query), after: null };
    const found = await findListed(visit, query);
    const open = visit.query.get('open') ?? undefined;
    return { content: <Conversations query={query} found={found} hasAgents open={open} /> };
  }),
];

/** The page of the messages that match the search terms. */
async function showFound(visit: PersonVisit, query: ListQuery): Promise<Answer> {
  const { pane, formErrors } = await readFoundPane(visit, query);
  return formPage('Search results', <Panes list={pane} />, formErrors);
}

/**
 * The messages that match the search terms, for the left of a page. A search counts against its own limit, because it can be slow.
 * @param open the message that is open beside them
 */
export async function readFoundPane(
  visit: PersonVisit,
  { filters: { agent, counterpart }, ...listQuery }: ListQuery,
  open?: OpenMessage,
): Promise<{ pane: ComponentChildren; formErrors?: FormErrors }> {
  const { query, parts, person, read } = visit;
  const { account_id } = person;
  const heading = await readHeading(visit);
  const before = query.get(open ? 'before_result' : 'before') ?? '';
  const shown = { ...listQuery, filters: { agent, counterpart } };
  const toPane = (found: ComponentChildren) => (
    <>
      <PaneHeading title="Search results" query={shown} {...heading} isPage={open === undefined} />
      {found}
    </>
  );
  return orShowFormAgain(
    async () => {
      await parts.limits.consume('message_search', account_id);
      const wanted = { query: listQuery.search, agent, counterpart };
      const position = { before_id: isId('message', before) ? before : null, limit: pageSize + 1 };
      const found = await read(searchConversations, { account_id }, wanted, { ...position, field: 'q' });
      const { items, next } = toPage(found, pageSize, ({ message }) => ({
        ...listQuery.kept,
        before: message.id,
      }));
      const threads = new Set(items.map(({ message }) => message.thread_id));
      const conversations = await Promise.all(
        [...threads].map((id) => read(requireConversation, { account_id }, id)),
      );
      const pane = toPane(
        <>
          <FoundMessages
            found={items}
            conversations={conversations}
            open={open}
            query={{ ...listQuery.kept, ...(before !== '' && { before_result: before }) }}
          />
          <NextPage path={conversationsAddress} noun="messages" next={next} />
        </>,
      );
      return { pane };
    },
    (formErrors) => ({
      pane: toPane(<ErrorNotice message={formErrors.message ?? Object.values(formErrors.fields)[0]} />),
      formErrors,
    }),
  );
}

interface FoundMessagesProps {
  found: readonly FoundMessage[];
  /** Those of the messages. */
  conversations: readonly Conversation[];
  /** The search, for the list beside a result that is opened. */
  query: Readonly<Record<string, string>>;
  open: OpenMessage | undefined;
}

/** A message that a page names. */
interface OpenMessage {
  thread_id: string;
  at: number | null;
}

/** Messages that match a search, with links to their places in the conversations. */
function FoundMessages({ found, conversations, query, open }: FoundMessagesProps) {
  if (found.length === 0)
    return <Empty title="No message matches">A message must have all words. Try fewer of them.</Empty>;
  const titles = new Map(conversations.map((each) => [each.id, titleOf(each)]));
  const rows = found.map(({ message, snippet }) => ({
    key: message.id,
    title: (
      <a
        href={`${conversationAddress(message.thread_id)}?${new URLSearchParams({ at: String(message.sequence), ...query }).toString()}#${message.id}`}
        aria-current={
          open?.thread_id === message.thread_id && open.at === message.sequence ? 'true' : undefined
        }
      >
        <bdi>{titles.get(message.thread_id)}</bdi>
        <span class="visually-hidden">, message {message.sequence}</span>
      </a>
    ),
    text: (
      <>
        <Handle of={message.sender_handle} /> · <Time at={message.created_at} />
        <p class="preview">
          <Snippet text={snippet} />
        </p>
      </>
    ),
  }));
  return <Rows label="Search results" rows={rows} />;
}

/** Matches are between pairs of asterisks. */
function Snippet({ text }: { text: string }) {
  return (
    <bdi>
      {text.split('**').map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part))}
    </bdi>
  );
}
