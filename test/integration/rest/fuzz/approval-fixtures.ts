import { openApproval } from '../../../../src/services/approvals/approvals.ts';
import type { TestService } from '../../../support/service.ts';

/** What another agent of the same person asks for: ids of approvals that wait. */
export async function createApprovalFixtures(service: TestService, owner: string): Promise<string[]> {
  const { id } = await service.register({ handle: `${owner}.asker` });
  const ask = (message: string) =>
    service.core.unitOfWork.writeAsSystem((work) =>
      openApproval(work, {
        agent_id: id,
        action: 'request_contact',
        target: 'some.body',
        detail: { message },
      }),
    );
  const asked = await Promise.all(['one', 'two', 'three', 'four'].map(ask));
  return asked.flatMap((approval) => approval?.id ?? []);
}
