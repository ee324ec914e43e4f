import type { ComponentChildren } from 'preact';
import type { Counts } from '../../../../../packages/core/src/domain/agents/erasure-and-export.ts';
import { type IdKind, isId } from '../../../../../packages/core/src/domain/ids.ts';
import {
  presentErasure,
  presentExport,
  type Progress,
} from '../../../../../packages/core/src/records/progress.ts';
import { listErasures } from '../../../../services/agents/erasures.ts';
import { beginExport, listExports, signArchiveUrl } from '../../../../services/agents/exports.ts';
import { Handle, sizeText, Time } from '../../components/rows.tsx';
import { Actions, ButtonLink } from '../../components/form.tsx';
import { toPage } from '../../define/list.tsx';
import { definePage } from '../../define/page.tsx';
import type { PageVisit } from '../../define/section.ts';
import { actAsAgent } from '../../act-as-agent.ts';
import { action, page } from '../../route.ts';

export const erasuresPath = '/console/erasures';
export const exportsPath = '/console/exports';
const pageSize = 10;

type Report = Pick<Progress<unknown>, 'id' | 'handle' | 'begun_at' | 'done_at'>;

interface ReportsDefinition<R extends Report> {
  path: string;
  title: string;
  lead: string;
  /** Plural name of the reports, such as "exports". */
  noun: string;
  /** Shown when there are none. */
  hint: string;
  kind: IdKind;
  read(visit: PageVisit, where: { before: string; limit: number }): Promise<readonly R[]>;
  /** Sentence for an unfinished report. */
  pendingText: string;
  /** Label of a finished report. */
  doneLabel: string;
  /** Sentence for a finished report. */
  doneText?(report: R): ComponentChildren;
  show(report: R): ComponentChildren;
}

/** A page of reports on exports or erasures, newest first, each with its state. */
function reportsPage<R extends Report>(definition: ReportsDefinition<R>) {
  const { path, title, lead, noun, hint, kind, read, pendingText, doneLabel, doneText, show } = definition;
  return definePage({
    path,
    title,
    lead,
    back: { href: '/console/agents', text: 'Agents' },
    sections: ({ list }) => [
      list({
        label: title,
        noun,
        empty: { title: `No ${noun} yet`, text: hint },
        async read(visit) {
          const before = visit.query.get('before') ?? '';
          const where = { before: isId(kind, before) ? before : '', limit: pageSize + 1 };
          return toPage(await read(visit, where), pageSize, ({ id }) => ({ before: id }));
        },
        row: (report) => ({
          key: report.id,
          title: <Handle of={report.handle} />,
          badges: [report.done_at === null ? ['warning', 'In progress'] : ['good', doneLabel]],
          text: (
            <>
              Started <Time at={report.begun_at} />
              {report.done_at === null
                ? `. ${pendingText}`
                : [', finished ', <Time at={report.done_at} />, '. ', doneText?.(report)]}
              {show(report)}
            </>
          ),
        }),
      }),
    ],
  });
}

/** The erasure reports of a person. */
export const erasuresPage = reportsPage({
  path: erasuresPath,
  title: 'Erased agents',
  lead: 'The data that was erased with an agent, and the data that was kept and why.',
  noun: 'reports',
  hint: 'You can erase an agent in its settings.',
  kind: 'erasure',
  read: async ({ read, person }, where) =>
    (await read(listErasures, person.account_id, where)).map(presentErasure),
  pendingText: 'The data is being erased.',
  doneLabel: 'Erased',
  show: ({ erased, kept }) => (
    <>
      <CountPoints counts={erased} />
      <h3>Kept data</h3>
      <ul class="bullets">
        {kept.map(({ what, why }) => (
          <li key={what}>
            {what}: {why}
          </li>
        ))}
      </ul>
    </>
  ),
});

/** The exports of agents, with their archives. Only the person who started an export sees it. */
export const exportsPages = [
  ...reportsPage({
    path: exportsPath,
    title: 'Exported agents',
    lead: 'All data of an agent in one archive. Only you can download it.',
    noun: 'exports',
    hint: 'You can export an agent in its settings.',
    kind: 'export',
    read: async ({ read, person }, where) =>
      (await read(listExports, person.account_id, where)).map(presentExport),
    pendingText: 'The archive is being created.',
    doneLabel: 'Ready',
    doneText: ({ expires_at }) => ['The archive is deleted ', <Time at={expires_at} />, '.'],
    show: ({ id, exported, missing_files, size_bytes }) => (
      <>
        <CountPoints counts={exported}>
          {missing_files.length > 0 && <li>missing files: {missing_files.length}</li>}
        </CountPoints>
        {size_bytes !== null && (
          <Actions>
            <ButtonLink href={`${exportsPath}/${id}/archive`} kind="primary" isFile>
              {`Download ${sizeText(size_bytes)}`}
            </ButtonLink>
          </Actions>
        )}
      </>
    ),
  }),
  page(`${exportsPath}/:id/archive`, async ({ ctx, params, person, write }) => {
    ctx.redirect(await write(signArchiveUrl, person.account_id, params['id'] ?? ''));
    return 'handled' as const;
  }),
  action('/console/agents/:id/export', async ({ params, parts, person }) => {
    const { agent, change } = await actAsAgent(parts, person, params['id'] ?? '');
    await change(beginExport, agent, { account_id: person.account_id, days: parts.settings.export_days });
    return { to: exportsPath, flash: `Exporting @${agent.canonical_handle}.` };
  }),
];

/** A list of counts above 0. Renders nothing if it is empty. */
function CountPoints({ counts, children }: { counts: Counts; children?: ComponentChildren }) {
  const positive = Object.entries(counts).filter(([, count]) => count > 0);
  if (positive.length === 0 && !children) return null;
  return (
    <ul class="bullets">
      {positive.map(([kind, count]) => (
        <li key={kind}>
          {kind.replaceAll('_', ' ')}: {count}
        </li>
      ))}
      {children}
    </ul>
  );
}
