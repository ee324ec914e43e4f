import type { RemoteAgentRecord } from '../../../../../packages/core/src/records/remote-agent.ts';
import { Badge } from '../../components/content.tsx';

/** The path of the list of remote agents. */
export const remotePath = '/console/remote-agents';

/** Whether messages are sent to a remote agent. */
export function RemoteState({
  waiting_for,
  failing_since,
}: Pick<RemoteAgentRecord, 'waiting_for' | 'failing_since'>) {
  if (waiting_for === 'card') return <Badge tone="warning">Reading its card</Badge>;
  if (waiting_for === 'person') return <Badge tone="warning">Waiting for you</Badge>;
  return failing_since === null ? <Badge tone="good">Ready</Badge> : <Badge tone="danger">Failing</Badge>;
}
