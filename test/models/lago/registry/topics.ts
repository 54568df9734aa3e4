// Which topics of realtime somebody may hear: those of customers whose invoices they may read.
import type { TopicAuthorizer } from "opwright/runtime";
import { may } from "../generated/identity.js";

export const mayHear: TopicAuthorizer = async (topics, context) =>
  (await may("billing.read", context))
    ? topics.filter((topic) => topic.startsWith("customer:"))
    : [];
