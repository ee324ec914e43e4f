export { fakeService } from './fake-service.ts';
export type {
  Failure,
  FakeAgent,
  FakeAgentOptions,
  FakeService,
  FakeServiceOptions,
} from './fake-service.ts';
export type { WebhookReceiver, WebhookRequest } from './core/records.ts';
export type { FakeClock } from './core/clock.ts';
