import { isId } from '../../domain/ids.ts';
import { type ErasureReport, presentErasure } from '../../presenters/erasure.ts';
import { listErasures } from '../../services/erasure.ts';
import { Handle } from '../kit/agents.tsx';
import { Badge, Card, Empty, Heading } from '../kit/content.tsx';
import { NextPage } from '../kit/next-page.tsx';
import { Time } from '../kit/time.tsx';
import type { PageParts } from '../parts.ts';
import { type ConsoleRoute, page, type ShownPage } from '../route.ts';

/** Where a person sees what became of the agents that they had erased. */
export const erasuresAddress = '/console/erasures';

const pageSize = 10;

/** The reports of what a person had erased. */
export function erasureRoutes({ unitOfWork }: PageParts): ConsoleRoute[] {
  return [
    page(erasuresAddress, async ({ query, person }) => {
      const given = query.get('before') ?? '';
      const before = isId('erasure', given) ? given : '';
      const found = await unitOfWork.consult((all) =>
        listErasures(all, person.account_id, { before, limit: pageSize + 1 }),
      );
      return erasuresPage(found.map(presentErasure));
    }),
  ];
}

function erasuresPage(found: readonly ErasureReport[]): ShownPage {
  const shown = found.slice(0, pageSize);
  const last = found.length > pageSize ? shown.at(-1) : undefined;
  const body = (
    <>
      <Heading
        title="Erased agents"
        back={{ href: '/console/agents', text: 'Agents' }}
        lead="What was taken out with an agent that you had erased, and what is left and why."
      />
      {shown.length === 0 && <Empty title="None yet">You can erase an agent under its settings.</Empty>}
      {shown.map((report) => (
        <Report key={report.id} report={report} />
      ))}
      <NextPage path={erasuresAddress} what="reports" next={last && { before: last.id }} />
    </>
  );
  return { title: 'Erased agents', body };
}

function Report({ report }: { report: ErasureReport }) {
  const { handle, begun_at, done_at, erased, kept } = report;
  return (
    <Card
      title={<Handle of={handle} />}
      action={done_at === null ? <Badge tone="warning">Under way</Badge> : <Badge tone="good">Erased</Badge>}
    >
      <p>
        Begun <Time at={begun_at} />
        {done_at === null ? (
          '. Come back later for the rest.'
        ) : (
          <>
            , done <Time at={done_at} />.
          </>
        )}
      </p>
      <ul class="points">
        {Object.entries(erased)
          .filter(([, rows]) => rows > 0)
          .map(([name, rows]) => (
            <li key={name}>
              {rows} {name.replaceAll('_', ' ')}
            </li>
          ))}
      </ul>
      <h3>What is left</h3>
      <ul class="points">
        {kept.map(({ what, why }) => (
          <li key={what}>
            {what}: {why}
          </li>
        ))}
      </ul>
    </Card>
  );
}
