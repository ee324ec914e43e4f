import type { ComponentChildren } from 'preact';
import { isId } from '../../../../../packages/core/src/domain/ids.ts';
import { searchConversations } from '../../../../services/messages/search.ts';
import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { listAgentsOfPerson } from '../../../../services/people/agents.ts';
import { readLiveState } from '../../../../services/people/live-pages.ts';
import { findConversations, type ListedConversation } from '../../../../services/threads/conversations.ts';
import { Card, Empty, ErrorNotice, Heading } from '../../components/content.tsx';
import { Actions, ButtonLink } from '../../components/form.tsx';
import { LiveRegion } from '../../components/live-region.tsx';
import { NextPage } from '../../components/rows.tsx';
import { type FormErrors, formPage, orShowFormAgain } from '../../form-errors.ts';
import { FoundMessages } from './found.tsx';
import { toPage } from '../../define/list.tsx';
import { liveRoute } from '../../define/live.ts';
import { type Answer, page, type PersonVisit, type ShownPage } from '../../route.ts';
import { FirstAgent } from './new.tsx';
import {
  conversationsAddress,
  Filters,
  type ListQuery,
  newConversationAddress,
  readListQuery,
} from './filters.tsx';
import { ConversationRows } from './rows.tsx';

const pageSize = 25;

/** The threads of all agents that a person may act as, newest first. The first page is live. */
export const conversationListPages = [
  page(conversationsAddress, async (visit) => {
    const { query, person, read } = visit;
    const listQuery = readListQuery(query);
    const right = { right: 'acts_as' } as const;
    if (listQuery.search !== '')
      return showFound(visit, listQuery, await read(listAgentsOfPerson, person.account_id, right));
    // Before the list: what comes in between is sent again.
    const state = await read(readLiveState, person);
    const [agents, found] = await Promise.all([
      read(listAgentsOfPerson, person.account_id, right),
      readPage(visit, listQuery),
    ]);
    const cursor = listQuery.after === null ? state?.cursor : undefined;
    return listPage({ query: listQuery, agents, found, cursor });
  }),
  liveRoute('/console/live/conversations', async (visit) => {
    const query = { ...readListQuery(visit.query), after: null };
    return <Conversations query={query} found={await readPage(visit, query)} hasAgents />;
  }),
];

/** Messages that match the search terms. A search counts against its own limit, because it can be slow. */
function showFound(
  { query, parts, person: { account_id }, read }: PersonVisit,
  { filters: { agent, counterpart }, ...listQuery }: ListQuery,
  agents: readonly AgentOfPerson[],
): Promise<Answer> {
  const before = query.get('before') ?? '';
  const showPage = (formErrors: FormErrors | undefined, found: ComponentChildren) =>
    formPage(
      'Found messages',
      <>
        <Heading title="Found messages" back={{ href: conversationsAddress, text: 'Conversations' }} />
        <ErrorNotice message={formErrors && (formErrors.message ?? Object.values(formErrors.fields)[0])} />
        <Filters agents={agents} query={{ ...listQuery, filters: { agent, counterpart } }} />
        {found}
      </>,
      formErrors,
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
      return showPage(
        undefined,
        <>
          <Card>
            <FoundMessages found={items} />
          </Card>
          <NextPage path={conversationsAddress} noun="messages" next={next} />
        </>,
      );
    },
    (formErrors) => showPage(formErrors, null),
  );
}

function readPage(
  { read, person }: PersonVisit,
  { filters, after }: ListQuery,
): Promise<ListedConversation[]> {
  return read(findConversations, { account_id: person.account_id }, filters, { after, limit: pageSize + 1 });
}

interface ListPage {
  query: ListQuery;
  agents: readonly AgentOfPerson[];
  found: readonly ListedConversation[];
  /** Undefined: the list is not live. */
  cursor: string | undefined;
}

function listPage({ query, agents, found, cursor }: ListPage): ShownPage {
  const last = found.length > pageSize ? found[pageSize - 1] : undefined;
  const address = `/console/live/conversations?${new URLSearchParams(query.kept).toString()}`;
  const body = (
    <>
      <Heading
        title="Conversations"
        action={
          <Actions>
            {agents.length > 0 && <ButtonLink href={newConversationAddress}>New conversation</ButtonLink>}
            <ButtonLink href="/console/waits">Missing answers</ButtonLink>
          </Actions>
        }
        lead="What your agents write and receive. You see the threads of the agents that you can act as."
      />
      <Filters agents={agents} query={query} />
      <Card>
        <LiveRegion address={address} cursor={cursor} label="Conversations">
          <Conversations query={query} found={found} hasAgents={agents.length > 0} />
        </LiveRegion>
      </Card>
      <NextPage
        path={conversationsAddress}
        noun="conversations"
        next={last && { ...query.kept, before: `${last.activity}.${last.id}` }}
      />
    </>
  );
  return { title: 'Conversations', body, script: cursor === undefined ? undefined : 'live' };
}

interface ConversationsProps {
  query: ListQuery;
  found: readonly ListedConversation[];
  hasAgents: boolean;
}

function Conversations({ query, found, hasAgents }: ConversationsProps) {
  return found.length === 0 ? (
    <NoConversations query={query} hasAgents={hasAgents} />
  ) : (
    <ConversationRows conversations={found.slice(0, pageSize)} />
  );
}

function NoConversations({ query, hasAgents }: { query: ListQuery; hasAgents: boolean }) {
  if (Object.keys(query.kept).length > 0 || query.after !== null)
    return <Empty title="No conversation matches">Change the filters, or show all conversations.</Empty>;
  return (
    <Empty title="No conversations yet" action={!hasAgents && <FirstAgent />}>
      {hasAgents
        ? 'A thread appears here when one of your agents starts it or is added to it.'
        : 'Conversations belong to agents, and you have none yet.'}
    </Empty>
  );
}
