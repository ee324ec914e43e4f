import { type ActingAgent, actAsAgent } from '../../act-as-agent.ts';
import {
  type ConfirmationDefinition,
  defineConfirmation,
  definePage,
  type Loading,
  type PageDefinition,
} from '../../define/page.tsx';
import type { PageVisit } from '../../define/section.ts';
import type { AgentRight, AgentOfPerson } from '../../../../services/people/agents.ts';
import type { ConsoleRoute } from '../../route.ts';
import { AgentBadges, Handle } from '../../components/rows.tsx';
import { Heading } from '../../components/content.tsx';
import { useLayoutContext } from '../../components/layout-context.ts';
import { Tabs } from '../../components/tabs.tsx';

/** The path of an agent's page. */
export function agentAddress({ id }: Pick<AgentOfPerson, 'id'>, subpage = ''): string {
  return `/console/agents/${id}${subpage && `/${subpage}`}`;
}

/** The names of the pages of each tab, by path. The tab has the first one. */
const tabs: readonly Readonly<Record<string, string>>[] = [
  { '': 'Overview' },
  { connect: 'Connect' },
  { inbox: 'Inbox' },
  { webhooks: 'Webhooks', subscriptions: 'Subscriptions' },
  { contacts: 'Contacts', blocks: 'Blocks', allowlist: 'Allowlist' },
  { settings: 'Settings', profile: 'Profile', credentials: 'Credentials' },
];
const managerTabs = [{ '': 'Overview' }, { settings: 'Settings', profile: 'Profile' }];

/** The heading and tabs of an agent's pages. */
export function AgentHeading({ agent }: { agent: AgentOfPerson }) {
  const { path } = useLayoutContext();
  const [, subpage = ''] = path.slice(agentAddress(agent).length).split('/');
  const shownTabs = agent.acts_as ? tabs : managerTabs;
  const toLinks = (pages: object) =>
    Object.entries(pages).map(([page, name]) => [agentAddress(agent, page), name as string] as const);
  // The pages that end an agent are below its settings.
  const group = toLinks(shownTabs.find((pages) => subpage in pages) ?? shownTabs.at(-1) ?? {});
  return (
    <>
      <Heading
        title={agent.display_name}
        back={{ href: '/console/agents', text: 'Agents' }}
        lead={
          <span class="agent-line">
            <Handle of={agent.canonical_handle} /> <AgentBadges {...agent} />
            {agent.member_name !== null && <span>agent of {agent.member_name}</span>}
          </span>
        }
      />
      <Tabs
        label={`Pages of ${agent.display_name}`}
        current={group[0]?.[0]}
        tabs={shownTabs.flatMap((pages) => toLinks(pages).slice(0, 1))}
      />
      {group.length > 1 && (
        <Tabs label={`${group[0]?.[1]}: pages`} current={agentAddress(agent, subpage)} tabs={group} isSmall />
      )}
    </>
  );
}

/** A request to a page of an agent. */
export interface AgentVisit extends PageVisit, ActingAgent {
  /** The path of a page of the agent; without a subpage, that of its overview. */
  agentPath(subpage?: string): string;
}

/** A definition of a page of an agent. Its path is that after the path of the agent. */
type OfAgent<Extra, Definition> = Loading<AgentVisit, Extra> &
  Definition & {
    /** Default: the person acts as the agent. `manages`: the person can change it. */
    right?: AgentRight;
  };

/** The routes of a page of an agent. */
export function agentPage<Extra extends object = object>({
  right,
  load,
  ...page
}: OfAgent<Extra, PageDefinition<AgentVisit & Extra>>): ConsoleRoute[] {
  return definePage<AgentVisit & Extra>({
    heading: ({ agent }) => <AgentHeading agent={agent} />,
    ...page,
    path: agentAddress({ id: ':id' }, page.path),
    load: loaderOf(right, load),
  });
}

/** The routes of a page that asks before a change of an agent. */
export function agentConfirmation<Extra extends object = object>({
  right,
  load,
  ...page
}: OfAgent<Extra, ConfirmationDefinition<AgentVisit & Extra>>): ConsoleRoute[] {
  const path = agentAddress({ id: ':id' }, page.path);
  return defineConfirmation<AgentVisit & Extra>({ ...page, path, load: loaderOf(right, load) });
}

function loaderOf<Extra extends object>(
  right: AgentRight | undefined,
  load: Loading<AgentVisit, Extra>['load'],
) {
  return async (visit: PageVisit): Promise<AgentVisit & Extra> => {
    const acting = await actAsAgent(visit.parts, visit.person, visit.params['id'] ?? '', right);
    const agentPath = (subpage?: string) => agentAddress(acting.agent, subpage);
    const loaded: AgentVisit = { ...visit, ...acting, agentPath };
    return { ...loaded, ...((await load?.(loaded)) ?? ({} as Extra)) };
  };
}
