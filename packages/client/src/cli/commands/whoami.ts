import { Command } from 'commander';
import { createContext } from '../context.ts';
import type { CommandIo } from '../io.ts';
import { toPlainLine } from '../output.ts';

/** `am whoami` */
export function whoamiCommand(io: CommandIo): Command {
  return new Command('whoami')
    .description('show the agent that you act as')
    .addHelpText('after', '\nExamples:\n  $ am whoami\n  $ am whoami --json --profile work')
    .action(async (_options: object, command: Command) => {
      const { client, output } = createContext(io, command);
      const me = await (await client()).agents.getMe();
      output.show(me, () => {
        const details = `${me.visibility}, accepts messages: ${me.inbound_policy}${me.paused ? ', paused' : ''}`;
        return `${output.style('bold', me.canonical_handle)} ${toPlainLine(me.display_name)} (${details})`;
      });
    });
}
