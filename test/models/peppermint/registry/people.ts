// Who is in which team.
import { collection, unscoped } from "opwright/runtime";
import { usersSpec } from "../generated/documents/users.js";
import type { UsersAssignTeamHandler } from "../generated/types/users.js";

export const assignTeam: UsersAssignTeamHandler = async ({ id, team = null }, context) => {
  await collection(unscoped(usersSpec), context).update(id, "any", { team });
};
