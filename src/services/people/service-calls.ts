import { authorFromPerson, system } from '../../../packages/core/src/domain/auth/audit.ts';
import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import type { ReadWork, SystemWork, UnitOfWork } from '../../work/unit-of-work.ts';

/** A use case: a function of a unit of work and of its input. */
type Service<Work, Input extends unknown[], T> = (work: Work, ...input: Input) => Promise<T>;

/** A use case that only reads. */
export type ReadService<Input extends unknown[], T> = Service<ReadWork, Input, T>;

/** A use case that changes something. */
export type WriteService<Input extends unknown[], T> = Service<SystemWork, Input, T>;

/** Calls services for people, each in a unit of work of its own. The pages for people open none. */
export interface ServiceCalls {
  /** Reads without a transaction. */
  read<Input extends unknown[], T>(service: ReadService<Input, T>, ...input: Input): Promise<T>;
  /** Changes something in one transaction. The audit log names the person; without one, it names the service. */
  write<Input extends unknown[], T>(
    person: Pick<Person, 'account_id'> | undefined,
    service: WriteService<Input, T>,
    ...input: Input
  ): Promise<T>;
  /** Calls a service that opens its units of work itself. A sign-in, for example, checks the password outside of them. */
  run<Input extends unknown[], T>(service: Service<UnitOfWork, Input, T>, ...input: Input): Promise<T>;
}

/** Creates the calls of services for people. */
export function createServiceCalls(unitOfWork: UnitOfWork): ServiceCalls {
  return {
    read: (service, ...input) => unitOfWork.read(system, (work) => service(work, ...input)),
    write: (person, service, ...input) =>
      unitOfWork.write(person ? authorFromPerson(person) : system, (work) => service(work, ...input)),
    run: (service, ...input) => service(unitOfWork, ...input),
  };
}
