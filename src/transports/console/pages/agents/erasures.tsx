import { type ErasureReport, presentErasure } from '../../../../presenters/progress.ts';
import { listErasures } from '../../../../services/agents/erasures.ts';
import type { PageParts } from '../../parts.ts';
import { type ConsoleRoute, page } from '../../route.ts';
import { CountPoints, Report, reportsPage, readReportsQuery } from './reports.tsx';

/** Where a person sees what became of the agents that they had erased. */
export const erasuresAddress = '/console/erasures';

/** The reports of what a person had erased. */
export function erasureRoutes({ unitOfWork }: PageParts): ConsoleRoute[] {
  return [
    page(erasuresAddress, async ({ query, person }) => {
      const found = await unitOfWork.readAsSystem((all) =>
        listErasures(all, person.account_id, readReportsQuery(query, 'erasure')),
      );
      return reportsPage({
        title: 'Erased agents',
        lead: 'What was taken out with an agent that you had erased, and what is left and why.',
        path: erasuresAddress,
        what: 'reports',
        hint: 'You can erase an agent under its settings.',
        found: found.map(presentErasure),
        show: (report) => <ErasureCard key={report.id} report={report} />,
      });
    }),
  ];
}

function ErasureCard({ report }: { report: ErasureReport }) {
  return (
    <Report of={report} done="Erased" awaited="the rest">
      <CountPoints of={report.erased} />
      <h3>What is left</h3>
      <ul class="points">
        {report.kept.map(({ what, why }) => (
          <li key={what}>
            {what}: {why}
          </li>
        ))}
      </ul>
    </Report>
  );
}
