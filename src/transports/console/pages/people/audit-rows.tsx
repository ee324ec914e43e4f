import type { AuditAction } from '../../../../../packages/core/src/domain/auth/audit.ts';
import type { AuditLogEntry } from '../../../../services/agents/audit.ts';
import { Handle, type Row, Time } from '../../components/rows.tsx';

/** An entry of the audit log. @param linked the ids of agents that are links to their pages */
export function auditRow(entry: AuditLogEntry, linked: ReadonlySet<string> = new Set()): Row {
  const { id, act, at, agent_id, handle, username, about, by_kind, by_name, transport, detail } = entry;
  const name = handle === null ? username : <Handle of={handle} />;
  const isLink = agent_id !== null && linked.has(agent_id);
  const subject = isLink ? <a href={`/console/agents/${agent_id}`}>{name}</a> : name;
  return {
    key: id,
    title: [toActText(act), ' ', subject],
    lines: [
      [about !== null && <span class="code">{about}</span>, detail !== null && ` ${detailText(detail)}`],
      [<Time at={at} />, [by_kind, by_name !== null && ` ${by_name}`], transport !== by_kind && transport],
    ],
  };
}

/** Returns an action in words: `contact_request.approved` becomes "Contact request approved". */
export function toActText(act: AuditAction): string {
  const text = act.replaceAll(/[._]/g, ' ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function detailText(detail: object): string {
  return Object.entries(detail)
    .map(
      ([name, value]) =>
        `${name.replaceAll('_', ' ')}: ${Array.isArray(value) ? value.join(' ') : String(value)}`,
    )
    .join(', ');
}
