import type { ComponentChildren } from 'preact';
import { isId } from '../../../../../packages/core/src/domain/ids.ts';
import { searchConversations } from '../../../../services/messages/search.ts';
import { requireConversation } from '../../../../services/threads/conversations.ts';
import { ErrorNotice } from '../../components/content.tsx';
import { NextPage } from '../../components/rows.tsx';
import { toPage } from '../../define/list.tsx';
import { liveRoute } from '../../define/live.ts';
import { type FormErrors, formPage, orShowFormAgain } from '../../form-errors.ts';
import { type Answer, page, type PersonVisit } from '../../route.ts';
import { conversationsAddress, type ListQuery, readListQuery } from './filters.tsx';
import { FoundMessages, type OpenMessage } from './found.tsx';
import {
  ConversationPane,
  Conversations,
  findListed,
  pageSize,
  PaneHeading,
  Panes,
  readActingAgents,
  readConversationList,
} from './pane.tsx';

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
  const agents = await readActingAgents(visit);
  const before = query.get(open ? 'before_result' : 'before') ?? '';
  const heading = { query: { ...listQuery, filters: { agent, counterpart } }, agents };
  const toPane = (found: ComponentChildren) => (
    <>
      <PaneHeading title="Search results" {...heading} isPage={open === undefined} />
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
