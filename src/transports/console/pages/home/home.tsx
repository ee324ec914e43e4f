import { listAgentStates } from '../../../../services/people/agent-states.ts';
import { type AgentOfPerson, listAgentsOfPerson } from '../../../../services/people/agents.ts';
import { type FirstSteps, readDashboard, readFirstSteps } from '../../../../services/people/dashboard.ts';
import { AgentTable } from '../../components/agent-table.tsx';
import { Rows } from '../../components/rows.tsx';
import { Card, Empty, Heading, Badge } from '../../components/content.tsx';
import { findConversations } from '../../../../services/threads/conversations.ts';
import { readLiveState } from '../../../../services/people/live-pages.ts';
import { countWaiting, readWaiting, type Waiting } from '../../../../services/people/waiting.ts';
import { productName } from '../../components/layout.tsx';
import { LiveRegion } from '../../components/live-region.tsx';
import { homeTitle, WaitingList } from './waiting.tsx';
import { CopyValue } from '../../components/secrets.tsx';
import { invitationRow } from '../people/organizations.tsx';
import { agentAddress } from '../agents/agent-page.tsx';
import { liveRoute } from '../../define/live.ts';
import { page, type PersonVisit } from '../../route.ts';
import { FirstAgent } from '../conversations/new.tsx';
import { failingWebhooksPath } from '../webhooks/failing.tsx';

const newAgentPath = '/console/agents/new';

/** The first steps of a person, until all are done. A program is connected, and a message sent, on the pages of an agent. */
function FirstStepsList({ steps, agent }: Pick<HomeContent, 'steps' | 'agent'>) {
  const { has_agent, has_connected, has_message } = steps;
  if (has_agent && has_connected && has_message) return null;
  const pageOf = (subpage?: string) => (agent ? agentAddress(agent, subpage) : newAgentPath);
  const rows = [
    { isDone: true, text: 'Create an account', href: '/console/account' },
    { isDone: has_agent, text: 'Create an agent', href: newAgentPath },
    { isDone: has_connected, text: 'Connect a program or an app', href: pageOf('connect') },
    { isDone: has_message, text: 'Send or receive a message', href: pageOf() },
  ];
  return (
    <div id="first-steps">
      <Card title="First steps">
        <ol class="steps">
          {rows.map(({ isDone, text, href }) => (
            <li key={text}>
              {isDone ? (
                <>
                  {text} <Badge tone="good">Done</Badge>
                </>
              ) : (
                <a href={href}>{text}</a>
              )}
            </li>
          ))}
        </ol>
      </Card>
    </div>
  );
}

const maxAgentsShown = 6;

/** `/console`: what waits for the person, live, and the person's agents. */
export const homePages = [
  page('/console', async (visit) => {
    const { person, parts, read } = visit;
    // Before the lists: what comes in between is sent again.
    const state = await read(readLiveState, person);
    const [agents, dashboard, content] = await Promise.all([
      read(listAgentStates, person.account_id, { order: 'latest' }),
      read(readDashboard, person.account_id),
      readLiveContent(visit),
    ]);
    const body = (
      <>
        <Heading title={`Hello, ${person.username}`} />
        <LiveRegion
          id="news"
          address="/console/live/home"
          cursor={state?.cursor}
          label="First steps, and what waits for you"
        >
          <LiveContent {...content} />
        </LiveRegion>
        {dashboard.invitations.length > 0 && (
          <Card title="Invitations">
            <Rows label="Invitations" rows={dashboard.invitations.map(invitationRow)} />
          </Card>
        )}
        {agents.length === 0 ? (
          <Empty title="No agents yet" action={<FirstAgent />}>
            An agent is an identity with which software sends and receives messages.
          </Empty>
        ) : (
          <Card title="Your agents" action={<AgentLinks failing={dashboard.failing_webhooks} />}>
            <AgentTable agents={agents.slice(0, maxAgentsShown)} />
          </Card>
        )}
        {dashboard.connections === 0 && (
          <Card title="Connect an app">
            <p>
              Enter this address in an MCP client. The client opens a page of this service, on which you
              choose the agent that it can act as.
            </p>
            <CopyValue label="MCP server address" value={`${parts.settings.public_url}/mcp`} />
          </Card>
        )}
      </>
    );
    const { waiting } = content;
    return { title: homeTitle(waiting), body, hasNews: countWaiting(waiting) > 0 };
  }),
  liveRoute('/console/live/home', 'news', async (visit) => {
    const found = await readLiveContent(visit);
    return { content: <LiveContent {...found} />, title: `${homeTitle(found.waiting)} · ${productName}` };
  }),
];

/** What the page keeps up to date. */
async function readLiveContent({ read, person: { account_id } }: PersonVisit): Promise<HomeContent> {
  const [waiting, steps, agents, [last]] = await Promise.all([
    read(readWaiting, account_id),
    read(readFirstSteps, account_id),
    read(listAgentsOfPerson, account_id, { right: 'acts_as' as const }),
    read(findConversations, { account_id }, {}, { after: null, limit: 1 }),
  ]);
  const calm = { agents: agents.length, last_at: last?.last_message?.created_at };
  return { waiting, steps, agent: agents[0], calm };
}

interface HomeContent {
  waiting: Waiting;
  steps: FirstSteps;
  /** The first agent, as which the person can act. */
  agent: AgentOfPerson | undefined;
  calm: Parameters<typeof WaitingList>[0]['calm'];
}

function LiveContent({ waiting, steps, agent, calm }: HomeContent) {
  return (
    <>
      <div id="waiting-for-you">
        <Card title="Waiting for you">
          <WaitingList waiting={waiting} calm={calm} />
        </Card>
      </div>
      <FirstStepsList steps={steps} agent={agent} />
    </>
  );
}

/** The ways to all agents, and to what fails. */
const AgentLinks = ({ failing }: { failing: number }) => (
  <span>
    {failing > 0 && [<a href={failingWebhooksPath}>Failing webhooks ({failing})</a>, ' · ']}
    <a href="/console/agents">All agents</a>
  </span>
);
