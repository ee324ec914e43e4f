import { byPerson } from '../../domain/audit.ts';
import { isId } from '../../domain/ids.ts';
import { type ExportReport, presentExport } from '../../presenters/agent-export.ts';
import { archiveAddress, beginExport, listExports } from '../../services/agent-export.ts';
import { agentOfPerson } from '../../services/person-agents.ts';
import { said } from '../flash.ts';
import { Handle } from '../kit/agents.tsx';
import { Badge, Card, Empty, Heading } from '../kit/content.tsx';
import { Actions, ButtonLink } from '../kit/form.tsx';
import { NextPage } from '../kit/next-page.tsx';
import { Time } from '../kit/time.tsx';
import type { PageParts } from '../parts.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../route.ts';

/** Where a person finds the exports of agents that they asked for. */
export const exportsAddress = '/console/exports';

const pageSize = 10;

/** Having all that is held of an agent gathered, and fetching it. Who asked for it sees it, and nobody else. */
export function exportRoutes({ unitOfWork, addresses, settings }: PageParts): ConsoleRoute[] {
  return [
    page(exportsAddress, async ({ query, person }) => {
      const given = query.get('before') ?? '';
      const before = isId('export', given) ? given : '';
      const found = await unitOfWork.consult((all) =>
        listExports(all, person.account_id, { before, limit: pageSize + 1 }),
      );
      return exportsPage(found.map(presentExport));
    }),
    page(`${exportsAddress}/:id/archive`, async ({ ctx, params, person }) => {
      const address = await unitOfWork.administer(
        (work) => archiveAddress(work, addresses, person.account_id, params['id'] ?? ''),
        byPerson(person),
      );
      ctx.redirect(address);
      return 'handled' as const;
    }),
    action('/console/agents/:id/export', async ({ params, person }) => {
      const { canonical_handle } = await unitOfWork.record(async (work) => {
        const agent = await agentOfPerson(work, person.account_id, params['id'] ?? '', 'acts_as');
        await beginExport(work, agent, { account_id: person.account_id, days: settings.export_days });
        return agent;
      }, byPerson(person));
      return { to: exportsAddress, flash: said(`@${canonical_handle} is being exported.`) };
    }),
  ];
}

function exportsPage(found: readonly ExportReport[]): ShownPage {
  const shown = found.slice(0, pageSize);
  const last = found.length > pageSize ? shown.at(-1) : undefined;
  const body = (
    <>
      <Heading
        title="Exported agents"
        back={{ href: '/console/agents', text: 'Agents' }}
        lead="All that is held of an agent, in one archive. Only you can fetch it, until it is removed."
      />
      {shown.length === 0 && <Empty title="None">You can export an agent under its settings.</Empty>}
      {shown.map((report) => (
        <Report key={report.id} report={report} />
      ))}
      <NextPage path={exportsAddress} what="exports" next={last && { before: last.id }} />
    </>
  );
  return { title: 'Exported agents', body };
}

function Report({ report }: { report: ExportReport }) {
  const { id, handle, begun_at, done_at, expires_at, exported, missing_files, size_bytes } = report;
  return (
    <Card
      title={<Handle of={handle} />}
      action={done_at === null ? <Badge tone="warning">Under way</Badge> : <Badge tone="good">Ready</Badge>}
    >
      <p>
        Begun <Time at={begun_at} />
        {done_at === null ? (
          '. Come back later for the archive.'
        ) : (
          <>
            , done <Time at={done_at} />. It is removed <Time at={expires_at} />.
          </>
        )}
      </p>
      <ul class="points">
        {Object.entries(exported)
          .filter(([, count]) => count > 0)
          .map(([kind, count]) => (
            <li key={kind}>
              {kind.replaceAll('_', ' ')}: {count}
            </li>
          ))}
        {missing_files.length > 0 && <li>files that are lost: {missing_files.length}</li>}
      </ul>
      {size_bytes !== null && (
        <Actions>
          <ButtonLink href={`${exportsAddress}/${id}/archive`} kind="primary">
            {`Download ${sizeText(size_bytes)}`}
          </ButtonLink>
        </Actions>
      )}
    </Card>
  );
}

function sizeText(bytes: number): string {
  const kib = Math.max(1, Math.ceil(bytes / 1_024));
  return kib < 1_024 ? `${kib} KiB` : `${Math.ceil(kib / 1_024)} MiB`;
}
