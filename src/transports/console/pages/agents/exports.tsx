import { system } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { authorFromPerson } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { type ExportReport, presentExport } from '../../../../../packages/core/src/records/progress.ts';
import { signArchiveUrl, beginExport, listExports } from '../../../../services/agents/exports.ts';
import { requireAgentOfPerson } from '../../../../services/people/agents.ts';
import { successFlash } from '../../flash.ts';
import { Actions, ButtonLink } from '../../components/form.tsx';
import { Time } from '../../components/time.tsx';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page } from '../../route.ts';
import { CountPoints, Report, reportsPage, readReportsQuery } from './reports.tsx';

/** Path of the export list. */
export const exportsAddress = '/console/exports';

/** Exports agents and downloads the archives. Only the person who started an export sees it. */
export function exportRoutes({ unitOfWork, addresses, settings }: PageParts): ConsoleRoute[] {
  return [
    page(exportsAddress, async ({ query, person }) => {
      const found = await unitOfWork.read(system, (work) =>
        listExports(work, person.account_id, readReportsQuery(query, 'export')),
      );
      return reportsPage({
        title: 'Exported agents',
        lead: 'All data of an agent in one archive. Only you can download it.',
        path: exportsAddress,
        noun: 'exports',
        hint: 'You can export an agent in its settings.',
        found: found.map(presentExport),
        show: (report) => <ExportCard key={report.id} report={report} />,
      });
    }),
    page(`${exportsAddress}/:id/archive`, async ({ ctx, params, person }) => {
      const address = await unitOfWork.write(authorFromPerson(person), (work) =>
        signArchiveUrl(work, addresses, person.account_id, params['id'] ?? ''),
      );
      ctx.redirect(address);
      return 'handled' as const;
    }),
    action('/console/agents/:id/export', async ({ params, person }) => {
      const { canonical_handle } = await unitOfWork.write(authorFromPerson(person), async (work) => {
        const agent = await requireAgentOfPerson(work, person.account_id, params['id'] ?? '', 'acts_as');
        await beginExport(work, agent, { account_id: person.account_id, days: settings.export_days });
        return agent;
      });
      return { to: exportsAddress, flash: successFlash(`Exporting @${canonical_handle}.`) };
    }),
  ];
}

function ExportCard({ report }: { report: ExportReport }) {
  const { id, expires_at, exported, missing_files, size_bytes } = report;
  const doneText = (
    <>
      The archive is deleted <Time at={expires_at} />.
    </>
  );
  return (
    <Report of={report} doneLabel="Ready" pendingText="The archive is being created." doneText={doneText}>
      <CountPoints counts={exported}>
        {missing_files.length > 0 && <li>missing files: {missing_files.length}</li>}
      </CountPoints>
      {size_bytes !== null && (
        <Actions>
          <ButtonLink href={`${exportsAddress}/${id}/archive`} kind="primary">
            {`Download ${sizeText(size_bytes)}`}
          </ButtonLink>
        </Actions>
      )}
    </Report>
  );
}

function sizeText(bytes: number): string {
  const kib = Math.max(1, Math.ceil(bytes / 1_024));
  return kib < 1_024 ? `${kib} KiB` : `${Math.ceil(kib / 1_024)} MiB`;
}
