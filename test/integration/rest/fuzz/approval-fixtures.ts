import { openApproval } from '../../../../src/services/approvals/approvals.ts';
import type { TestService } from '../../../support/service.ts';

/** Creates pending approvals of another agent of the same person and returns their ids. */
export async function createApprovalFixtures(service: TestService, owner: string): Promise<string[]> {
  const { id } = await service.register({ handle: `${owner}.asker` });
  const { handle: target } = await service.agent();
  const ask = (message: string) =>
    service.write((work) =>
      openApproval(work, {
        agent_id: id,
        action: 'request_contact',
        target,
        detail: { message },
      }),
    );
  const approvals = await Promise.all(['one', 'two', 'three', 'four'].map(ask));
  return approvals.flatMap((approval) => approval?.id ?? []);
}
