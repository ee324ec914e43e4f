import { system } from '../../../../../packages/core/src/domain/auth/audit.ts';
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
import type { PageParts } from '../../parts.ts';
import { type FormErrors, formPage, orShowFormAgain } from '../../form-errors.ts';
import { FoundMessages } from './found.tsx';
import { type Answer, type ConsoleRoute, page, publicPage, type ShownPage } from '../../route.ts';
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
export function conversationListRoutes(parts: PageParts): ConsoleRoute[] {
  const { unitOfWork, live } = parts;
  return [
    page(conversationsAddress, async ({ query, person }) => {
      const { account_id } = person;
      const listQuery = readListQuery(query);
      if (listQuery.search !== '') return showFound(parts, account_id, listQuery, query);
      return unitOfWork.read(system, async (work) => {
        // Before the list: what comes in between is sent again.
        const state = await readLiveState(work, person);
        const [agents, found] = await Promise.all([
          listAgentsOfPerson(work, account_id, { right: 'acts_as' }),
          readPage(work, account_id, listQuery),
        ]);
        const cursor = listQuery.after === null ? state?.cursor : undefined;
        return listPage({ query: listQuery, agents, found, cursor });
      });
    }),
    publicPage(`/console/live/conversations`, ({ ctx, query, person }) => {
      const listQuery = { ...readListQuery(query), after: null };
      live.serve(ctx, person, {
        render: async () => {
          const found = await unitOfWork.read(system, (work) =>
            readPage(work, person?.account_id ?? '', listQuery),
          );
          return <Conversations query={listQuery} found={found} hasAgents />;
        },
      });
      return 'handled';
    }),
  ];
}

/** Messages that match the search terms. A search counts against its own limit, because it can be slow. */
async function showFound(
  { unitOfWork, limits }: Pick<PageParts, 'unitOfWork' | 'limits'>,
  account_id: string,
  listQuery: ListQuery,
  query: URLSearchParams,
): Promise<Answer> {
  const { agent, counterpart } = listQuery.filters;
  const before = query.get('before') ?? '';
  const agents = await unitOfWork.read(system, (work) =>
    listAgentsOfPerson(work, account_id, { right: 'acts_as' }),
  );
  const showPage = (formErrors: FormErrors | undefined, found: ComponentChildren) =>
    formPage(
      'Found messages',
      <>
        <Heading title="Found messages" back={{ href: conversationsAddress, text: 'Conversations' }} />
        <ErrorNotice message={formErrors && (formErrors.message ?? Object.values(formErrors.fields)[0])} />
        <Filters agents={agents} query={listQuery} />
        {found}
      </>,
      formErrors,
    );
  const answer = await orShowFormAgain(
    async () => {
      await limits.consume('message_search', account_id);
      const found = await unitOfWork.read(system, (work) =>
        searchConversations(
          work,
          { account_id },
          { query: listQuery.search, agent, counterpart },
          { before_id: isId('message', before) ? before : null, limit: pageSize + 1, field: 'q' },
        ),
      );
      const shown = found.slice(0, pageSize);
      const last = found.length > pageSize ? shown.at(-1)?.message.id : undefined;
      return showPage(
        undefined,
        <>
          <Card>
            <FoundMessages found={shown} />
          </Card>
          <NextPage
            path={conversationsAddress}
            noun="messages"
            next={last === undefined ? undefined : { ...listQuery.kept, before: last }}
          />
        </>,
      );
    },
    (formErrors) => showPage(formErrors, null),
  );
  return answer;
}

function readPage(
  db: Parameters<typeof findConversations>[0],
  account_id: string,
  { filters, after }: ListQuery,
): Promise<ListedConversation[]> {
  return findConversations(db, { account_id }, filters, { after, limit: pageSize + 1 });
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
    <Empty
      title="No conversations yet"
      action={
        !hasAgents && (
          <ButtonLink href="/console/agents/new" kind="primary">
            Create your first agent
          </ButtonLink>
        )
      }
    >
      {hasAgents
        ? 'A thread appears here when one of your agents starts it or is added to it.'
        : 'Conversations belong to agents, and you have none yet.'}
    </Empty>
  );
}
