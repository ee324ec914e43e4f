import type { ComponentChildren } from 'preact';
import { type AgentOfPerson, listAgentsOfPerson } from '../../../../services/people/agents.ts';
import { listSavedViews, type SavedView } from '../../../../services/people/saved-views.ts';
import { readLiveState } from '../../../../services/people/live-pages.ts';
import { findConversations, type ListedConversation } from '../../../../services/threads/conversations.ts';
import { Empty } from '../../components/content.tsx';
import { ButtonLink } from '../../components/form.tsx';
import { LiveRegion } from '../../components/live-region.tsx';
import { NextPage } from '../../components/rows.tsx';
import type { PersonVisit } from '../../route.ts';
import {
  conversationAddress,
  conversationsAddress,
  Filters,
  type ListQuery,
  newConversationAddress,
} from './filters.tsx';
import { FirstAgent } from './new.tsx';
import { ConversationRows } from './rows.tsx';
import { SavedViews } from './views.tsx';

/** Conversations and found messages on one page of the list. */
export const pageSize = 25;

/** What the list of conversations shows. */
export interface ConversationList {
  query: ListQuery;
  heading: PaneContent;
  found: readonly ListedConversation[];
  /** Undefined: the list is not live. */
  cursor: string | undefined;
}

/** Reads a page of the list. The first page is live. */
export async function readConversationList(visit: PersonVisit, query: ListQuery): Promise<ConversationList> {
  const { person, read } = visit;
  // Before the list: what comes in between is sent again.
  const state = await read(readLiveState, person);
  const [heading, found] = await Promise.all([readHeading(visit), findListed(visit, query)]);
  return { query, heading, found, cursor: query.after === null ? state?.cursor : undefined };
}

/** What the head of the list offers. */
interface PaneContent {
  /** The agents that the person can act as. */
  agents: readonly AgentOfPerson[];
  views: readonly SavedView[];
}

export async function readHeading({ read, person: { account_id } }: PersonVisit): Promise<PaneContent> {
  const [agents, views] = await Promise.all([
    read(listAgentsOfPerson, account_id, { right: 'acts_as' as const }),
    read(listSavedViews, account_id),
  ]);
  return { agents, views };
}

/** One conversation more than a page, to know whether there is a next page. */
export function findListed({ read, person }: PersonVisit, { filters, after }: ListQuery) {
  return read(findConversations, { account_id: person.account_id }, filters, { after, limit: pageSize + 1 });
}

interface PanesProps {
  /** The list at the left of a wide screen. */
  list: ComponentChildren;
  /** Content beside the list. Absent: a narrow screen shows the list, otherwise it shows only this. */
  children?: ComponentChildren;
}

/** A list, and beside it what is open. */
export function Panes({ list, children }: PanesProps) {
  return (
    <div class={children === undefined ? 'panes' : 'panes has-open'}>
      <div class="pane-list">{list}</div>
      <div class="pane-open">
        {children ?? <Empty title="No conversation is open">Choose one in the list to read it here.</Empty>}
      </div>
    </div>
  );
}

interface PaneHeadingProps extends PaneContent {
  title: string;
  query: ListQuery;
  /** Whether the title is that of the page. */
  isPage: boolean;
}

/** The title above a list, with the search and the filters. */
export function PaneHeading({ title, query, agents, views, isPage }: PaneHeadingProps) {
  return (
    <>
      <div class="pane-title">
        {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
        {agents.length > 0 && <ButtonLink href={newConversationAddress}>New conversation</ButtonLink>}
      </div>
      <Filters agents={agents} query={query} />
      <SavedViews views={views} query={query} />
    </>
  );
}

interface ConversationPaneProps {
  list: ConversationList;
  /** The id of the conversation that is open beside the list. */
  open?: string;
}

/** The list of conversations. */
export function ConversationPane({ list: { query, heading, found, cursor }, open }: ConversationPaneProps) {
  const last = found.length > pageSize ? found[pageSize - 1] : undefined;
  const live = new URLSearchParams({ ...query.kept, ...(open !== undefined && { open }) });
  return (
    <>
      <PaneHeading title="Conversations" query={query} {...heading} isPage={open === undefined} />
      <LiveRegion
        id="live-list"
        address={`/console/live/conversations?${live.toString()}`}
        cursor={cursor}
        label="Conversations"
      >
        <Conversations query={query} found={found} hasAgents={heading.agents.length > 0} open={open} />
      </LiveRegion>
      <NextPage
        path={conversationsAddress}
        noun="conversations"
        next={last && { ...query.kept, before: `${last.activity}.${last.id}` }}
      />
    </>
  );
}

interface ConversationsProps extends Pick<ConversationList, 'query' | 'found'> {
  hasAgents: boolean;
  open?: string | undefined;
}

/** The rows of the list, or what to do when there are none. */
export function Conversations({ query, found, hasAgents, open }: ConversationsProps) {
  if (found.length > 0) {
    const kept = new URLSearchParams(query.kept).toString();
    const address =
      open === undefined ? `${conversationsAddress}${kept && `?${kept}`}` : conversationAddress(open);
    return <ConversationRows conversations={found.slice(0, pageSize)} open={open} address={address} />;
  }
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
