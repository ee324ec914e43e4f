import { system } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { type ErasureReport, presentErasure } from '../../../../../packages/core/src/records/progress.ts';
import { listErasures } from '../../../../services/agents/erasures.ts';
import type { PageParts } from '../../parts.ts';
import { type ConsoleRoute, page } from '../../route.ts';
import { CountPoints, Report, reportsPage, readReportsQuery } from './reports.tsx';

/** Path of the erasure reports. */
export const erasuresAddress = '/console/erasures';

/** The erasure reports of a person. */
export function erasureRoutes({ unitOfWork }: PageParts): ConsoleRoute[] {
  return [
    page(erasuresAddress, async ({ query, person }) => {
      const found = await unitOfWork.read(system, (work) =>
        listErasures(work, person.account_id, readReportsQuery(query, 'erasure')),
      );
      return reportsPage({
        title: 'Erased agents',
        lead: 'The data that was erased with an agent, and the data that was kept and why.',
        path: erasuresAddress,
        noun: 'reports',
        hint: 'You can erase an agent in its settings.',
        found: found.map(presentErasure),
        show: (report) => <ErasureCard key={report.id} report={report} />,
      });
    }),
  ];
}

function ErasureCard({ report }: { report: ErasureReport }) {
  return (
    <Report of={report} doneLabel="Erased" pendingText="The data is being erased.">
      <CountPoints counts={report.erased} />
      <h3>Kept data</h3>
      <ul class="bullets">
        {report.kept.map(({ what, why }) => (
          <li key={what}>
            {what}: {why}
          </li>
        ))}
      </ul>
    </Report>
  );
}
