import type { Person } from '../../../../domain/auth/actor.ts';
import { type AgentOfPerson, listAgentsOfPerson } from '../../../../services/people/agents.ts';
import { type Dashboard, readDashboard } from '../../../../services/people/dashboard.ts';
import { AgentRows } from '../../components/agent-rows.tsx';
import { Card, Empty, Heading } from '../../components/content.tsx';
import { readLiveState } from '../../../../services/people/live-pages.ts';
import { countWaiting, readWaiting, type Waiting } from '../../../../services/people/waiting.ts';
import { LiveRegion } from '../../components/live-region.tsx';
import { homeTitle, WaitingList } from './waiting.tsx';
import { ButtonLink } from '../../components/form.tsx';
import { CopyValue } from '../../components/secrets.tsx';
import { InvitationsToPerson } from '../people/membership-invitations.tsx';
import type { PageParts } from '../../parts.ts';
import { type ConsoleRoute, page, publicPage, type ShownPage } from '../../route.ts';

const maxAgentsShown = 6;

/** `/console`: what waits for the person, live, and the person's agents. */
export function homeRoutes({ unitOfWork, settings, live }: PageParts): ConsoleRoute[] {
  return [
    page('/console', async ({ person }) => {
      const { account_id } = person;
      return unitOfWork.readAsSystem(async (repositories) => {
        // Before the lists: what comes in between is sent again.
        const state = await readLiveState(repositories, person);
        const [agents, dashboard, waiting] = await Promise.all([
          listAgentsOfPerson(repositories, account_id, { limit: maxAgentsShown + 1 }),
          readDashboard(repositories, account_id),
          readWaiting(repositories, account_id),
        ]);
        return homePage({ person, agents, dashboard, waiting, cursor: state?.cursor, ...settings });
      });
    }),
    publicPage('/console/live/home', ({ ctx, person }) => {
      live.serve(ctx, person, {
        render: async () => {
          const account_id = person?.account_id ?? '';
          const waiting = await unitOfWork.readAsSystem((repositories) =>
            readWaiting(repositories, account_id),
          );
          return <WaitingList waiting={waiting} />;
        },
      });
      return 'handled';
    }),
  ];
}

interface Home {
  person: Person;
  agents: readonly AgentOfPerson[];
  dashboard: Dashboard;
  waiting: Waiting;
  /** Undefined: the page is not live. */
  cursor: string | undefined;
  public_url: string;
}

function homePage({ person, agents, dashboard, waiting, cursor, public_url }: Home): ShownPage {
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
      <div id="waiting-for-you">
        <Card title="Waiting for you">
          <LiveRegion address="/console/live/home" cursor={cursor} label="Waiting for you">
            <WaitingList waiting={waiting} />
          </LiveRegion>
        </Card>
      </div>
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
    live: cursor !== undefined,
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
