import type { Person } from '../../domain/person.ts';
import { type AgentOfPerson, listManagedBy } from '../../services/person-agents.ts';
import { type Desk, deskOf } from '../../services/person-desk.ts';
import { AgentRows, Handle, monogram } from '../kit/agents.tsx';
import { Badge, Card, Empty, Heading } from '../kit/content.tsx';
import { ButtonLink } from '../kit/form.tsx';
import { Rows } from '../kit/list.tsx';
import { CopyValue } from '../kit/secret.tsx';
import type { PageParts } from '../parts.ts';
import { type ConsoleRoute, page, type ShownPage } from '../route.ts';

const mostShown = 6;

/** `/console`: what a person's agents are, and what waits for the person. */
export function homeRoutes({ unitOfWork, settings }: PageParts): ConsoleRoute[] {
  return [
    page('/console', async ({ person }) => {
      const { account_id } = person;
      const [agents, desk] = await unitOfWork.consult((all) =>
        Promise.all([listManagedBy(all, account_id, { limit: mostShown + 1 }), deskOf(all, account_id)]),
      );
      return homePage({ person, agents, desk, ...settings });
    }),
  ];
}

interface Home {
  person: Person;
  agents: readonly AgentOfPerson[];
  desk: Desk;
  public_url: string;
}

function homePage({ person, agents, desk, public_url }: Home): ShownPage {
  const requests = desk.asked.reduce((sum, agent) => sum + agent.requests, 0);
  const body = (
    <>
      <Heading title={`Hello, ${person.username}`} />
      <div class="tiles">
        <Tile href="/console/approvals" count={desk.approvals} name="Open approvals" waits />
        <Tile
          href={desk.asked.length === 0 ? undefined : '#asked'}
          count={requests}
          name="Contact requests"
          waits
        />
        <Tile href="/console/connections" count={desk.connections} name="Connected apps" />
      </div>
      {desk.asked.length > 0 && <Asked asked={desk.asked} />}
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
          <AgentRows agents={agents.slice(0, mostShown)} />
        </Card>
      )}
      {desk.connections === 0 && (
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

function Asked({ asked }: Pick<Desk, 'asked'>) {
  const rows = asked.map(({ id, display_name, canonical_handle, requests }) => ({
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
