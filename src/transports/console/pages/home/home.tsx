import { system } from '../../../../../packages/core/src/domain/auth/audit.ts';
import type { Person } from '../../../../../packages/core/src/domain/auth/actor.ts';
import { type AgentOfPerson, listAgentsOfPerson } from '../../../../services/people/agents.ts';
import {
  type Dashboard,
  type FirstSteps,
  readDashboard,
  readFirstSteps,
} from '../../../../services/people/dashboard.ts';
import { AgentRows } from '../../components/agent-rows.tsx';
import { Card, Empty, Heading } from '../../components/content.tsx';
import { readLiveState } from '../../../../services/people/live-pages.ts';
import { countWaiting, readWaiting, type Waiting } from '../../../../services/people/waiting.ts';
import { LiveRegion } from '../../components/live-region.tsx';
import { FirstStepsList } from './first-steps.tsx';
import { homeTitle, WaitingList } from './waiting.tsx';
import { ButtonLink } from '../../components/form.tsx';
import { CopyValue } from '../../components/secrets.tsx';
import { InvitationsToPerson } from '../people/membership-invitations.tsx';
import type { ReadWork } from '../../../../work/unit-of-work.ts';
import { agentAddress } from '../agents/heading.tsx';
import type { PageParts } from '../../parts.ts';
import { type ConsoleRoute, page, publicPage, type ShownPage } from '../../route.ts';

const maxAgentsShown = 6;

/** `/console`: what waits for the person, live, and the person's agents. */
export function homeRoutes({ unitOfWork, settings, live }: PageParts): ConsoleRoute[] {
  return [
    page('/console', async ({ person }) => {
      const { account_id } = person;
      return unitOfWork.read(system, async (work) => {
        // Before the lists: what comes in between is sent again.
        const state = await readLiveState(work, person);
        const [agents, dashboard, content] = await Promise.all([
          listAgentsOfPerson(work, account_id, { limit: maxAgentsShown + 1 }),
          readDashboard(work, account_id),
          readLiveContent(work, account_id),
        ]);
        return homePage({ person, agents, dashboard, content, cursor: state?.cursor, ...settings });
      });
    }),
    publicPage('/console/live/home', ({ ctx, person }) => {
      live.serve(ctx, person, {
        render: async () => {
          const account_id = person?.account_id ?? '';
          const content = await unitOfWork.read(system, (work) => readLiveContent(work, account_id));
          return <LiveContent {...content} />;
        },
      });
      return 'handled';
    }),
  ];
}

/** What the page keeps up to date. */
async function readLiveContent(work: ReadWork, account_id: string) {
  const [waiting, steps, agents] = await Promise.all([
    readWaiting(work, account_id),
    readFirstSteps(work, account_id),
    listAgentsOfPerson(work, account_id, { right: 'acts_as', limit: 1 }),
  ]);
  return { waiting, steps, agent: agents[0] };
}

interface HomeContent {
  waiting: Waiting;
  steps: FirstSteps;
  /** The first agent, as which the person can act. */
  agent: AgentOfPerson | undefined;
}

function LiveContent({ waiting, steps, agent }: HomeContent) {
  return (
    <>
      <FirstStepsList steps={steps} agentPage={agent ? agentAddress(agent) : '/console/agents/new'} />
      <div id="waiting-for-you">
        <Card title="Waiting for you">
          <WaitingList waiting={waiting} />
        </Card>
      </div>
    </>
  );
}

interface Home {
  person: Person;
  agents: readonly AgentOfPerson[];
  dashboard: Dashboard;
  content: HomeContent;
  /** Undefined: the page is not live. */
  cursor: string | undefined;
  public_url: string;
}

function homePage({ person, agents, dashboard, content, cursor, public_url }: Home): ShownPage {
  const { waiting } = content;
  const requests = dashboard.contact_requests.reduce((sum, agent) => sum + agent.requests, 0);
  const body = (
    <>
      <Heading title={`Hello, ${person.username}`} />
      <div class="tiles">
        <Tile href="/console/approvals" count={dashboard.approvals} name="Pending approvals" isUrgent />
        <Tile
          href={dashboard.contact_requests.length === 0 ? undefined : '#waiting-for-you'}
          count={requests}
          name="Contact requests"
          isUrgent
        />
        <Tile href="/console/connections" count={dashboard.connections} name="Connected apps" />
      </div>
      <LiveRegion address="/console/live/home" cursor={cursor} label="First steps, and what waits for you">
        <LiveContent {...content} />
      </LiveRegion>
      {dashboard.invitations.length > 0 && (
        <Card title="Invitations">
          <InvitationsToPerson invitations={dashboard.invitations} />
        </Card>
      )}
      {agents.length === 0 ? (
        <Empty
          title="No agents yet"
          action={
            <ButtonLink href="/console/agents/new" kind="primary">
              Create your first agent
            </ButtonLink>
          }
        >
          An agent is an identity with which software sends and receives messages.
        </Empty>
      ) : (
        <Card title="Your agents" action={<a href="/console/agents">All agents</a>}>
          <AgentRows agents={agents.slice(0, maxAgentsShown)} />
        </Card>
      )}
      {dashboard.connections === 0 && (
        <Card title="Connect an app">
          <p>
            Enter this address in an MCP client. The client opens a page of this service, on which you choose
            the agent that it can act as.
          </p>
          <CopyValue label="MCP server address" value={`${public_url}/mcp`} />
        </Card>
      )}
    </>
  );
  return {
    title: homeTitle(waiting),
    body,
    script: cursor === undefined ? undefined : 'live',
    hasNews: countWaiting(waiting) > 0,
  };
}

/** A number with a label. An urgent one is highlighted unless it is 0. */
function Tile({
  href,
  count,
  name,
  isUrgent = false,
}: {
  href: string | undefined;
  count: number;
  name: string;
  isUrgent?: boolean;
}) {
  const className = isUrgent && count > 0 ? 'tile waiting' : 'tile';
  const content = (
    <>
      <span class="tile-number">{count}</span>
      <span class="tile-name">{name}</span>
    </>
  );
  return href === undefined ? (
    <div class={className}>{content}</div>
  ) : (
    <a class={className} href={href}>
      {content}
    </a>
  );
}
