export { fakeService } from './fake-service.ts';
export type {
  Failure,
  FakeAgent,
  FakeAgentOptions,
  FakeService,
  FakeServiceOptions,
} from './fake-service.ts';
export type { ApprovalSubject } from './operations/approvals.ts';
export type { ApprovalDecision, WebhookReceiver, WebhookRequest } from './core/records.ts';
export type { FakeClock } from './core/clock.ts';
