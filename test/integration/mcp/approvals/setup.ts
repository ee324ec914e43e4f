import type { ElicitationHandler } from '../../../clients/mcp/eliciting-client.ts';
import type { McpInstance } from '../instance.ts';

let counter = 0;

/** Agents for tests of approvals, and what the database says of them. */
export function createApprovalFixtures(instance: () => McpInstance) {
  /** An agent, a stranger to it, and an agent of the same owner. */
  async function people() {
    counter += 1;
    const [mine, kin, stranger] = [`ask${counter}.agent`, `ask${counter}.sibling`, `far${counter}.agent`];
    const token = await instance().token(mine);
    await instance().token(kin);
    await instance().token(stranger);
    return { mine, kin, stranger, token };
  }

  /** Two agents of one organization. */
  async function colleagues() {
    counter += 1;
    const slug = `house${counter}`;
    await instance().organization(slug);
    const [mine, kin] = [`${slug}.agent`, `${slug}.fellow`];
    await instance().token(kin);
    return { mine, kin, token: await instance().token(mine) };
  }

  /** The questions that an agent asked, with what became of them. */
  const rows = (handle: string) =>
    instance().query(
      `select q.state, q.used_at is not null as used, q.message, q.client_name, q.decided_via from approvals q
     join agents a on a.id = q.agent_id where a.canonical_handle = $1 order by q.id`,
      [handle],
    );
  /** How often it asked for contact. */
  const requests = async (handle: string) =>
    (
      await instance().query(
        `select 1 from contact_requests r join agents a on a.id = r.from_agent_id where a.canonical_handle = $1`,
        [handle],
      )
    ).length;

  return { people, colleagues, rows, requests };
}

/** A form that stays open until the service withdraws it. */
export const openForm =
  (onWithdrawn: () => void): ElicitationHandler =>
  (_params, signal) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        onWithdrawn();
        resolve({ action: 'cancel' });
      });
    });
