import type { Command } from 'commander';
import type { Client } from '../main.ts';
import type { CommandIo } from './io.ts';
import { createOutput, type Output } from './output.ts';
import { createProfileClient, type Profile, selectProfile } from './profile.ts';

/** What a command works with. */
export interface CommandContext {
  io: CommandIo;
  selected: Profile;
  output: Output;
  isJson: boolean;
  /** @throws {CommandError} when the profile is not signed in */
  client(): Promise<Client>;
}

interface GlobalOptions {
  profile?: string;
  json?: boolean;
}

/** Creates the context of a command from its options. */
export function createContext(io: CommandIo, command: Command): CommandContext {
  const { profile, json = false } = command.optsWithGlobals<GlobalOptions>();
  const selected = selectProfile(io, profile);
  return {
    io,
    selected,
    output: createOutput(io, json),
    isJson: json,
    client: () => createProfileClient(io, selected),
  };
}

/** The options that every command has. */
export function addGlobalOptions(command: Command): Command {
  return command
    .option('--json', 'print JSON, one object a line')
    .option('--profile <name>', 'which sign-in to use; default: AMS_PROFILE, or default');
}
