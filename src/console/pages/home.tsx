import type { Person } from '../../domain/person.ts';
import { type AgentOfPerson, listManagedBy } from '../../services/person-agents.ts';
import { AgentRows } from '../kit/agents.tsx';
import { Card, Empty, Heading } from '../kit/content.tsx';
import { ButtonLink } from '../kit/form.tsx';
import type { PageParts } from '../parts.ts';
import { type ConsoleRoute, page, type ShownPage } from '../route.ts';

/** `/console`: what a person's agents are, and what waits for the person. */
export function homeRoutes({ unitOfWork }: PageParts): ConsoleRoute[] {
  return [
    page('/console', async ({ person }) => {
      const agents = await unitOfWork.consult((all) => listManagedBy(all, person.account_id));
      return homePage(person, agents);
    }),
  ];
}

function homePage(person: Person, agents: readonly AgentOfPerson[]): ShownPage {
  const body = (
    <>
      <Heading title={`Hello, ${person.username}`} />
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
          <AgentRows agents={agents} />
        </Card>
      )}
    </>
  );
  return { title: 'Home', body };
}
