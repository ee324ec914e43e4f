import type { Person } from '../../../domain/auth/person.ts';
import { type AgentOfPerson, listAgentsOfPerson } from '../../../services/people/agents.ts';
import { type Dashboard, readDashboard } from '../../../services/people/dashboard.ts';
import { AgentRows, Handle, monogram } from '../components/agent-rows.tsx';
import { Badge, Card, Empty, Heading } from '../components/content.tsx';
import { ButtonLink } from '../components/form.tsx';
import { Rows } from '../components/rows.tsx';
import { CopyValue } from '../components/secrets.tsx';
import type { PageParts } from '../parts.ts';
import { type ConsoleRoute, page, type ShownPage } from '../route.ts';

const maxAgentsShown = 6;

/** `/console`: what a person's agents are, and what waits for the person. */
export function homeRoutes({ unitOfWork, settings }: PageParts): ConsoleRoute[] {
  return [
    page('/console', async ({ person }) => {
      const { account_id } = person;
      const [agents, desk] = await unitOfWork.readAsSystem((all) =>
        Promise.all([
          listAgentsOfPerson(all, account_id, { limit: maxAgentsShown + 1 }),
          readDashboard(all, account_id),
        ]),
      );
      return homePage({ person, agents, dashboard: desk, ...settings });
    }),
  ];
}

interface Home {
  person: Person;
  agents: readonly AgentOfPerson[];
  dashboard: Dashboard;
  public_url: string;
}

function homePage({ person, agents, dashboard, public_url }: Home): ShownPage {
  const requests = dashboard.contact_requests.reduce((sum, agent) => sum + agent.requests, 0);
  const body = (
    <>
      <Heading title={`Hello, ${person.username}`} />
      <div class="tiles">
        <Tile href="/console/approvals" count={dashboard.approvals} name="Open approvals" waits />
        <Tile
          href={dashboard.contact_requests.length === 0 ? undefined : '#asked'}
          count={requests}
          name="Contact requests"
          waits
        />
        <Tile href="/console/connections" count={dashboard.connections} name="Connected apps" />
      </div>
      {dashboard.contact_requests.length > 0 && (
        <ContactRequests contact_requests={dashboard.contact_requests} />
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
          An agent is an address that software writes from and is written to.
        </Empty>
      ) : (
        <Card title="Your agents" action={<a href="/console/agents">All agents</a>}>
          <AgentRows agents={agents.slice(0, maxAgentsShown)} />
        </Card>
      )}
      {dashboard.connections === 0 && (
        <Card title="Connect an app">
          <p>
            Give this address to an app that speaks MCP. It opens a page here, on which you choose the agent
            that it may act as.
          </p>
          <CopyValue label="Address of the tool server" value={`${public_url}/mcp`} />
        </Card>
      )}
    </>
  );
  return { title: 'Home', body };
}

/** A number at a glance. One that waits for the person stands out while it is not nought. */
function Tile({
  href,
  count,
  name,
  waits = false,
}: {
  href: string | undefined;
  count: number;
  name: string;
  waits?: boolean;
}) {
  const kind = waits && count > 0 ? 'tile waiting' : 'tile';
  const inside = (
    <>
      <span class="tile-number">{count}</span>
      <span class="tile-name">{name}</span>
    </>
  );
  return href === undefined ? (
    <div class={kind}>{inside}</div>
  ) : (
    <a class={kind} href={href}>
      {inside}
    </a>
  );
}

function ContactRequests({ contact_requests }: Pick<Dashboard, 'contact_requests'>) {
  const rows = contact_requests.map(({ id, display_name, canonical_handle, requests }) => ({
    key: id,
    mark: monogram(display_name),
    title: <a href={`/console/agents/${id}/contacts`}>{display_name}</a>,
    text: <Handle of={canonical_handle} />,
    side: <Badge tone="accent">{requests === 1 ? '1 request' : `${requests} requests`}</Badge>,
  }));
  return (
    <div id="asked">
      <Card title="Asked for contact">
        <Rows label="Agents that are asked for contact" rows={rows} />
      </Card>
    </div>
  );
}
