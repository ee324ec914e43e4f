import type { Operation } from '../define.ts';
import { addRemoteAgentOperation } from './add-remote-agent.ts';
import { getRemoteAgentOperation } from './get-remote-agent.ts';
import { listRemoteAgentsOperation } from './list-remote-agents.ts';
import { refreshRemoteAgentOperation } from './refresh-remote-agent.ts';
import { removeRemoteAgentOperation } from './remove-remote-agent.ts';
import { updateRemoteAgentOperation } from './update-remote-agent.ts';

/** The operations that the setting REMOTE_AGENTS turns on. */
export const remoteOperations: readonly Operation[] = [
  listRemoteAgentsOperation,
  addRemoteAgentOperation,
  getRemoteAgentOperation,
  updateRemoteAgentOperation,
  removeRemoteAgentOperation,
  refreshRemoteAgentOperation,
];
